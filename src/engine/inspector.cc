#include "engine/inspector.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "trigger/run_triggers.h"
#include "value/archive.h"

namespace sluice::engine {

namespace {

Result<RunSummary> read_summary(std::string_view record) {
    auto in = Decoder{record};
    TRY(in.format(2, "run summary"));
    return value::decode_fields<RunSummary>(in);
}

bool matches(const RunFilter& filter, const RunSummary& summary) {
    if (!filter.definition.empty() && filter.definition != summary.definition) {
        return false;
    }
    if (filter.label.empty()) {
        return true;
    }
    auto equals = filter.label.find('=');
    const auto* value = summary.labels.find(filter.label.substr(0, equals));
    return value != nullptr && value->is_string() &&
           (equals == std::string::npos || value->as_string() == filter.label.substr(equals + 1));
}

/// Runs of one shard under one status, newest first.
Result<void> list_status(const store::Store& store, ShardId shard, trigger::Status status,
                         const RunFilter& filter, std::vector<ListedRun>& found) {
    auto probe = keys::by_status(shard, {.space = filter.space}, status, Time{});
    auto prefix = probe.substr(0, probe.size() - sizeof(std::int64_t) - 1);
    auto cursor = store.scan(prefix, keys::end_of(prefix));
    auto count = std::size_t{0};
    for (; cursor->is_valid() && count < filter.most; cursor->next()) {
        auto summary = TRY(read_summary(cursor->value()));
        if (!matches(filter, summary)) {
            continue;
        }
        auto rest = Decoder{cursor->key().substr(prefix.size())};
        std::ignore = TRY(rest.i64()); // When it started.
        auto size = TRY(rest.u8());
        auto id = std::string{TRY(rest.raw(size))};
        found.push_back(
            {.run = {.space = filter.space, .id = std::move(id)}, .summary = std::move(summary)});
        ++count;
    }
    return cursor->status();
}

Value state_of_trigger(const trigger::TriggerState& state, const std::string& scope) {
    auto view = value::ArchiveView::view(state);
    return view.without("seen")
        .with("distinct", static_cast<std::int64_t>(state.seen.size()))
        .with("scope", scope);
}

} // namespace

Result<std::vector<ListedRun>> Inspector::list(const RunFilter& filter) const {
    auto found = std::vector<ListedRun>{};
    for (auto shard = std::uint16_t{0}; shard < store_.shard_count(); ++shard) {
        for (auto status :
             {trigger::Status::Running, trigger::Status::Succeeded, trigger::Status::Failed,
              trigger::Status::Cancelled, trigger::Status::TimedOut}) {
            if (!filter.status || *filter.status == status) {
                TRY(list_status(store_, ShardId{shard}, status, filter, found));
            }
        }
    }
    std::ranges::sort(found, [](const ListedRun& left, const ListedRun& right) {
        return std::pair{right.summary.started, left.run.id} <
               std::pair{left.summary.started, right.run.id};
    });
    found.resize(std::min(found.size(), filter.most));
    return found;
}

Result<std::unique_ptr<trigger::RunState>> Inspector::run(const RunName& run) const {
    // What can be no run's id may not even fit a key.
    auto state = trigger::is_run_id(run.id) ? TRY(load_run(store_, shard(run), run)) : nullptr;
    if (!state) {
        return fail(Errc::NotFound, "there is no run \"{}\"", run.id);
    }
    return state;
}

Result<void> Inspector::read_history(const RunName& run,
                                     const std::function<bool(const trigger::Entry&)>& use) const {
    auto prefix = keys::history_of(shard(run), run);
    auto cursor = store_.scan(prefix, keys::end_of(prefix));
    for (; cursor->is_valid(); cursor->next()) {
        auto entries = TRY(trigger::decode_record(cursor->value()));
        for (const auto& entry : entries) {
            if (!use(entry)) {
                return {};
            }
        }
    }
    return cursor->status();
}

Result<std::function<std::string(trigger::TriggerNumber)>> Inspector::trigger_names(
    const RunName& name) {
    auto state = TRY(run(name));
    auto set = std::shared_ptr<const trigger::TriggerSet>{};
    if (!state->info.set.empty()) {
        set = TRY(catalog_.set(state->info.set));
    }
    auto added = std::map<trigger::TriggerNumber, std::string>{};
    for (const auto& [number, override_form] : state->overrides) {
        const auto* id = override_form.form.find("id");
        if (id != nullptr && id->is_string()) {
            added[number] = std::string{id->as_string()};
        }
    }
    return [set, added = std::move(added)](trigger::TriggerNumber number) -> std::string {
        if (number == trigger::command_trigger) {
            return "(command)";
        }
        if (auto found = added.find(number); found != added.end()) {
            return found->second;
        }
        if (set && number.raw() < set->size()) {
            return set->at(number).spec.id;
        }
        return fmt::format("#{}", number.raw());
    };
}

Result<Value> Inspector::triggers(const RunName& name) {
    auto state = TRY(run(name));
    auto set = std::shared_ptr<const trigger::TriggerSet>{};
    auto count = std::uint32_t{0};
    if (!state->info.set.empty()) {
        set = TRY(catalog_.set(state->info.set));
        count = static_cast<std::uint32_t>(set->size());
    }
    auto last = state->overrides.empty() ? 0 : state->overrides.rbegin()->first.raw() + 1;
    auto shown = std::vector<Value>{};
    for (auto at = std::uint32_t{0}; at < std::max(count, last); ++at) {
        auto number = trigger::TriggerNumber{at};
        auto form = Value{};
        if (auto own = state->overrides.find(number); own != state->overrides.end()) {
            form = own->second.form;
        } else if (at < count) {
            form = trigger::to_form(set->at(number).spec);
        }
        if (form.is_null()) {
            continue; // Removed.
        }
        auto states = std::vector<Value>{};
        if (const auto* root = state->find_trigger(trigger::root_scope, number)) {
            states.push_back(state_of_trigger(*root, ""));
        }
        for (const auto& [scope, path] : state->scope_paths) {
            const auto* scoped = state->find_trigger(scope, number);
            if (scoped != nullptr && state->path_of(scope) != nullptr) {
                states.push_back(state_of_trigger(*scoped, path));
            }
        }
        shown.push_back(
            Value::object({{"trigger", form}, {"states", Value::list(std::move(states))}}));
    }
    return Value::list(std::move(shown));
}

} // namespace sluice::engine

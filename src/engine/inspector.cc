#include "engine/inspector.h"

#include <algorithm>
#include <utility>

#include "engine/run_records.h"
#include "trigger/run_triggers.h"
#include "value/archive.h"

namespace sluice::engine {

namespace {

Value state_of_trigger(const trigger::TriggerState& state, const std::string& scope) {
    auto view = value::ArchiveView::view(state);
    return view.without("seen")
        .with("distinct", static_cast<std::int64_t>(state.seen.size()))
        .with("scope", scope);
}

} // namespace

Result<std::unique_ptr<trigger::RunState>> Inspector::run(const RunName& run) const {
    // What can be no run's id may not even fit a key.
    auto is_possible = !run.id.empty() && run.id.size() <= trigger::run_id_bytes_max;
    auto state = is_possible ? TRY(load_run(store_, shard(run), run)) : nullptr;
    if (!state) {
        return fail(Errc::NotFound, "there is no run \"{}\"", run.id);
    }
    return state;
}

Result<std::optional<trigger::RunProgress>> Inspector::progress(const RunName& run) const {
    auto is_possible = !run.id.empty() && run.id.size() <= trigger::run_id_bytes_max;
    return is_possible ? load_progress(store_, shard(run), run)
                       : Result<std::optional<trigger::RunProgress>>{std::nullopt};
}

Result<void> Inspector::read_history(const RunName& run,
                                     const std::function<bool(const trigger::Entry&)>& use,
                                     trigger::EventNumber from) const {
    auto prefix = keys::history_of(shard(run), run);
    auto cursor = store_.scan(TRY(history_key(run, from)), keys::end_of(prefix));
    for (; cursor->is_valid(); cursor->next()) {
        auto entries = TRY(trigger::decode_record(cursor->value()));
        for (const auto& entry : entries) {
            if (entry.number >= from && !use(entry)) {
                return {};
            }
        }
    }
    return cursor->status();
}

/// Of the record that an event stands in, or one before it. Records go by the first event in them,
/// and the store reads forwards only; most have few.
Result<std::string> Inspector::history_key(const RunName& run, trigger::EventNumber event) const {
    for (auto back : {std::uint64_t{0}, std::uint64_t{64}, std::uint64_t{4'096}}) {
        auto first = event.raw() - std::min(event.raw(), back);
        auto cursor = store_.scan(keys::history(shard(run), run, first),
                                  keys::history(shard(run), run, event.raw() + 1));
        auto found = std::string{};
        for (; cursor->is_valid(); cursor->next()) {
            found = cursor->key();
        }
        TRY(cursor->status());
        if (!found.empty() || first == 0) {
            return found.empty() ? keys::history_of(shard(run), run) : found;
        }
    }
    auto before = TRY(checkpoint(run, event));
    return before ? keys::history(shard(run), run, before->event.raw() + 1)
                  : keys::history_of(shard(run), run);
}

Result<std::optional<trigger::EventNumber>> Inspector::first_event(const RunName& run) const {
    auto first = std::optional<trigger::EventNumber>{};
    TRY(read_history(run, [&](const trigger::Entry& entry) {
        first = entry.number;
        return false;
    }));
    return first;
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

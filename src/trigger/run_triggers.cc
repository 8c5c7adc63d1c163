#include "trigger/run_triggers.h"

#include <algorithm>
#include <set>
#include <utility>

namespace sluice::trigger {

RunTriggers::RunTriggers(std::shared_ptr<const TriggerSet> set, const Vocabulary& vocabulary)
    : set_(std::move(set)), vocabulary_(vocabulary) {}

const CompiledTrigger* RunTriggers::get(TriggerNumber number) const {
    if (!own_.empty()) [[unlikely]] {
        if (auto found = own_.find(number); found != own_.end()) {
            return found->second.get();
        }
    }
    if (number.raw() < set_->size()) [[likely]] {
        return &set_->at(number);
    }
    return number == command_trigger ? commander_.get() : nullptr;
}

std::optional<TriggerNumber> RunTriggers::find(std::string_view id) const {
    if (auto found = own_ids_.find(id); found != own_ids_.end()) {
        return found->second;
    }
    auto number = set_->find(id);
    if (number && own_.contains(*number)) {
        return std::nullopt; // Removed.
    }
    return number;
}

void RunTriggers::match(std::string_view type, std::string_view subject, Matches& out) const {
    set_->index().find(type, subject, out);
    add_own(type, subject, out);
}

void RunTriggers::match(event::EventView& event, Matches& out) const {
    set_->find(event, out);
    add_own(event.event().type(), event.event().subject(), out);
}

/// Triggers changed at run time stand in for those of the set.
void RunTriggers::add_own(std::string_view type, std::string_view subject, Matches& out) const {
    if (own_.empty()) [[likely]] {
        return;
    }
    auto replaced = std::ranges::remove_if(
        out, [&](const Match& match) { return own_.contains(match.trigger); });
    out.erase(replaced.begin(), replaced.end());
    auto own = Matches{};
    own_index_.find(type, subject, own);
    out.insert(out.end(), own.begin(), own.end());
    std::ranges::sort(out);
}

std::vector<TriggerNumber> RunTriggers::interceptors_of(TriggerNumber number) const {
    auto found = std::vector<TriggerNumber>{};
    const auto* target = get(number);
    auto take = [&](const std::vector<TriggerNumber>& numbers) {
        std::ranges::copy_if(numbers, std::back_inserter(found),
                             [&](auto each) { return !own_.contains(each); });
    };
    take(set_->interceptors_of_trigger(target->spec.id));
    auto is_interceptor = target->spec.intercept.has_value();
    if (!is_interceptor) {
        take(set_->interceptors_of_condition(target->spec.condition.name));
    }
    for (const auto& [own_number, trigger] : own_) {
        if (!trigger || !trigger->spec.intercept) {
            continue;
        }
        const auto& intercept = *trigger->spec.intercept;
        auto by_id = intercept.trigger == target->spec.id && !intercept.trigger.empty();
        auto by_condition = !is_interceptor && intercept.condition == target->spec.condition.name;
        if (by_id || by_condition) {
            found.push_back(own_number);
        }
    }
    std::ranges::sort(found);
    return found;
}

TriggerNumber RunTriggers::next_number(const RunState& state) const {
    auto last = state.overrides.empty() ? 0 : state.overrides.rbegin()->first.raw() + 1;
    return TriggerNumber{std::max(static_cast<std::uint32_t>(set_->size()), last)};
}

bool RunTriggers::closes_cycle(TriggerNumber number, const TriggerSpec& spec) const {
    auto seen = std::set<std::string>{spec.id};
    auto target = spec.intercept ? spec.intercept->trigger : std::string{};
    while (!target.empty()) {
        if (!seen.insert(target).second) {
            return true;
        }
        auto next = find(target);
        if (!next || *next == number) {
            return false;
        }
        const auto& intercept = get(*next)->spec.intercept;
        target = intercept ? intercept->trigger : std::string{};
    }
    return false;
}

std::shared_ptr<const CompiledTrigger> RunTriggers::check(TriggerNumber number, const Value& form,
                                                          std::vector<Problem>& problems) const {
    auto spec = parse_trigger(form, "trigger", problems);
    if (!problems.empty()) {
        return nullptr;
    }
    if (auto other = find(spec.id); other && *other != number) {
        problems.push_back({.path = "trigger/id",
                            .message = fmt::format("there is a trigger \"{}\" already", spec.id)});
    }
    if (spec.intercept && !spec.intercept->trigger.empty() && !find(spec.intercept->trigger)) {
        problems.push_back({.path = "trigger/intercept/trigger",
                            .message = fmt::format("there is no trigger \"{}\" to intercept",
                                                   spec.intercept->trigger)});
    }
    if (closes_cycle(number, spec)) {
        problems.push_back(
            {.path = "trigger/intercept", .message = "would close a cycle of interceptors"});
    }
    auto compiled = Compiler{vocabulary_}.compile(std::move(spec), "trigger", problems);
    return problems.empty() ? std::make_shared<CompiledTrigger>(std::move(compiled)) : nullptr;
}

void RunTriggers::replace(TriggerNumber number, std::shared_ptr<const CompiledTrigger> trigger) {
    auto patterns_of = [&](const CompiledTrigger& each, auto use) {
        for (auto at = std::uint32_t{0}; at < each.spec.on.size(); ++at) {
            use(each.spec.on[at], Match{.trigger = number, .pattern = at});
        }
    };
    auto& slot = own_[number];
    if (slot) {
        patterns_of(*slot,
                    [&](const auto& pattern, auto match) { own_index_.remove(pattern, match); });
        own_ids_.erase(slot->spec.id);
        own_interceptors_ -= slot->spec.intercept ? 1 : 0;
        replaced_.push_back(std::move(slot));
    }
    slot = std::move(trigger);
    if (slot) {
        patterns_of(*slot,
                    [&](const auto& pattern, auto match) { own_index_.add(pattern, match); });
        own_ids_[slot->spec.id] = number;
        own_interceptors_ += slot->spec.intercept ? 1 : 0;
    }
}

void RunTriggers::reset() {
    for (auto& [number, trigger] : own_) {
        replaced_.push_back(std::move(trigger));
    }
    own_.clear();
    own_ids_.clear();
    own_index_ = {};
    own_interceptors_ = 0;
}

Result<void> RunTriggers::restore(const RunState& state) {
    for (const auto& [number, override_form] : state.overrides) {
        if (override_form.form.is_null()) {
            replace(number, nullptr);
            continue;
        }
        auto problems = std::vector<Problem>{};
        auto spec = parse_trigger(override_form.form, "trigger", problems);
        auto compiled = Compiler{vocabulary_}.compile(std::move(spec), "trigger", problems);
        if (!problems.empty()) {
            return fail(Errc::Corrupt, "run {}: trigger {} no longer compiles: {}", state.id,
                        number.raw(), to_error(problems).message);
        }
        replace(number, std::make_shared<CompiledTrigger>(std::move(compiled)));
    }
    return {};
}

} // namespace sluice::trigger

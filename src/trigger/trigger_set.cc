#include "trigger/trigger_set.h"

#include <algorithm>
#include <utility>

#include "expr/cel/compile.h"
#include "expr/cel/constraints.h"
#include "value/json.h"

namespace sluice::trigger {

namespace {

const std::vector<TriggerNumber> none;

/// Problems of a part, put under the path of the whole.
void adopt(std::vector<Problem> found, const std::string& path, std::vector<Problem>& problems) {
    for (auto& problem : found) {
        problems.push_back({.path = problem.path.empty() ? path : path + "/" + problem.path,
                            .message = std::move(problem.message)});
    }
}

template <typename Factories>
std::string names_of(const Factories& factories) {
    auto names = std::string{};
    for (const auto& [name, factory] : factories) {
        names += names.empty() ? name : ", " + name;
    }
    return names;
}

} // namespace

expr::CompileOptions expression_names() {
    return {.names = {"event", "data", "context", "run", "trigger", "triggers", "scope", "item",
                      "index", "now"}};
}

std::shared_ptr<const Condition> Compiler::condition_of(const TriggerSpec& spec,
                                                        const std::string& path,
                                                        std::vector<Problem>& problems) {
    const auto& term = spec.condition;
    auto factory = vocabulary_.conditions.find(term.name);
    if (factory == vocabulary_.conditions.end()) {
        problems.push_back({.path = path,
                            .message = fmt::format("unknown condition \"{}\": expected one of {}",
                                                   term.name, names_of(vocabulary_.conditions))});
        return nullptr;
    }
    auto key = fmt::format("{}/{}/{}", term.name, spec.on.size(), value::to_json(term.params));
    if (auto cached = conditions_.find(key); cached != conditions_.end()) {
        return cached->second;
    }
    auto site = ConditionSite{.patterns = spec.on.size(), .expressions = expression_names()};
    auto found = std::vector<Problem>{};
    auto condition = factory->second(term.params, site, found);
    adopt(std::move(found), path + "/" + term.name, problems);
    return conditions_[std::move(key)] = std::move(condition);
}

std::shared_ptr<const Action> Compiler::action_of(const Term& term, const std::string& path,
                                                  std::vector<Problem>& problems) {
    auto factory = vocabulary_.actions.find(term.name);
    if (factory == vocabulary_.actions.end()) {
        problems.push_back({.path = path,
                            .message = fmt::format("unknown action \"{}\": expected one of {}",
                                                   term.name, names_of(vocabulary_.actions))});
        return nullptr;
    }
    auto key = fmt::format("{}/{}", term.name, value::to_json(term.params));
    if (auto cached = actions_.find(key); cached != actions_.end()) {
        return cached->second;
    }
    auto found = std::vector<Problem>{};
    auto action = factory->second(term.params, {.expressions = expression_names()}, found);
    adopt(std::move(found), path + "/" + term.name, problems);
    return actions_[std::move(key)] = std::move(action);
}

CompiledTrigger Compiler::compile(TriggerSpec spec, const std::string& path,
                                  std::vector<Problem>& problems) {
    auto compiled = CompiledTrigger{};
    compiled.condition = condition_of(spec, path + "/condition", problems);
    if (!spec.filter.empty()) {
        auto options = expression_names();
        options.must_be_bool = true;
        auto filter = expr::cel::compile(spec.filter, options);
        if (filter) {
            compiled.filter = std::make_shared<const expr::Program>(*std::move(filter));
        } else {
            problems.push_back(
                {.path = path + "/filter", .message = expr::describe(filter.error())});
        }
    }
    for (auto at = std::size_t{0}; at < spec.actions.size(); ++at) {
        compiled.actions.push_back(
            action_of(spec.actions[at], fmt::format("{}/action/{}", path, at), problems));
    }
    compiled.spec = std::move(spec);
    return compiled;
}

std::shared_ptr<const TriggerSet> TriggerSet::compile(SetSpec spec, const Vocabulary& vocabulary,
                                                      std::vector<Problem>& problems) {
    auto before = problems.size();
    auto set = std::make_shared<TriggerSet>();
    auto compiler = Compiler{vocabulary};
    set->triggers_.reserve(spec.triggers.size());
    for (auto at = std::size_t{0}; at < spec.triggers.size(); ++at) {
        set->triggers_.push_back(compiler.compile(std::move(spec.triggers[at]),
                                                  fmt::format("triggers/{}", at), problems));
    }
    if (problems.size() != before) {
        return nullptr;
    }

    spec.triggers.clear();
    set->spec_ = std::move(spec);
    for (auto at = std::uint32_t{0}; at < set->triggers_.size(); ++at) {
        auto number = TriggerNumber{at};
        const auto& trigger = set->triggers_[at];
        set->by_id_.emplace(trigger.spec.id, number);
        for (auto pattern = std::uint32_t{0}; pattern < trigger.spec.on.size(); ++pattern) {
            set->index_.add(trigger.spec.on[pattern], {.trigger = number, .pattern = pattern});
        }
        set->add_filter(number);
        if (const auto& intercept = trigger.spec.intercept) {
            auto& list = intercept->trigger.empty() ? set->by_condition_[intercept->condition]
                                                    : set->by_trigger_[intercept->trigger];
            list.push_back(number);
        }
        if (trigger.condition->deadline()) {
            set->with_deadline_.push_back(number);
        }
    }
    if (set->filters_.is_empty()) {
        set->unfiltered_ = {}; // The index of all has them.
    }
    return set;
}

void TriggerSet::add_filter(TriggerNumber number) {
    const auto& trigger = triggers_[number.raw()];
    // One that begins disabled decides what becomes of events before its filter is asked.
    auto demands = trigger.filter && trigger.spec.is_enabled
                       ? expr::cel::constraints_of(*trigger.filter)
                       : std::vector<expr::cel::Constraint>{};
    for (auto pattern = std::uint32_t{0}; pattern < trigger.spec.on.size(); ++pattern) {
        auto match = Match{.trigger = number, .pattern = pattern};
        if (!filters_.add(trigger.spec.on[pattern], demands, match)) {
            unfiltered_.add(trigger.spec.on[pattern], match);
        }
    }
}

void TriggerSet::find(event::EventView& event, Matches& out) const {
    const auto& type = event.event().type();
    const auto& subject = event.event().subject();
    if (filters_.is_empty()) {
        return index_.find(type, subject, out);
    }
    unfiltered_.find(type, subject, out);
    filters_.append(event, out);
    std::ranges::sort(out);
}

std::optional<TriggerNumber> TriggerSet::find(std::string_view id) const {
    auto found = by_id_.find(id);
    if (found == by_id_.end()) {
        return std::nullopt;
    }
    return found->second;
}

const std::vector<TriggerNumber>& TriggerSet::interceptors_of_trigger(std::string_view id) const {
    auto found = by_trigger_.find(id);
    return found == by_trigger_.end() ? none : found->second;
}

const std::vector<TriggerNumber>& TriggerSet::interceptors_of_condition(
    std::string_view name) const {
    auto found = by_condition_.find(name);
    return found == by_condition_.end() ? none : found->second;
}

} // namespace sluice::trigger

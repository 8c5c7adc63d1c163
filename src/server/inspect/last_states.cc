#include "server/inspect/last_states.h"

#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "value/wording.h"

namespace sluice::server::inspect {

namespace {

constexpr auto states_max = std::size_t{100'000};

/// What a trigger last was in one scope.
struct LastState {
    std::uint64_t fired = 0;
    Value memory;
};

class StateLog {
public:
    void note(const trigger::Entry& entry) {
        for (const auto& change : entry.changes) {
            if (const auto* fired = std::get_if<trigger::Fired>(&change)) {
                if (auto* state = find(fired->scope, fired->trigger)) {
                    ++state->fired;
                }
            } else if (const auto* remembered = std::get_if<trigger::Remembered>(&change)) {
                if (auto* state = find(remembered->scope, remembered->trigger)) {
                    state->memory = told(remembered->memory);
                }
            } else if (const auto* opened = std::get_if<trigger::ScopeOpened>(&change)) {
                paths_.insert_or_assign(opened->scope.incarnation, opened->path);
            } else if (std::holds_alternative<trigger::Renewed>(change)) {
                states_.clear();
                paths_.clear();
                count_ = 0;
            }
        }
    }

    /// By scope, of a trigger whose id this is.
    std::map<std::string, LastState> of(
        const std::string& id, const std::function<std::string(trigger::TriggerNumber)>& names) {
        if (by_id_.empty()) {
            for (auto& [number, states] : states_) {
                by_id_.emplace(names(number), std::move(states));
            }
        }
        auto found = by_id_.find(id);
        return found == by_id_.end() ? std::map<std::string, LastState>{}
                                     : std::move(found->second);
    }

private:
    /// Null: there are too many, or its scope was opened before what is kept.
    LastState* find(trigger::Incarnation scope, trigger::TriggerNumber number) {
        auto path = std::string{};
        if (scope != trigger::root_scope) {
            auto opened = paths_.find(scope);
            if (opened == paths_.end()) {
                return nullptr;
            }
            path = opened->second;
        }
        auto& states = states_[number];
        if (auto found = states.find(path); found != states.end()) {
            return &found->second;
        }
        return ++count_ > states_max ? nullptr : &states[path];
    }

    /// Results can be large, and nobody asks for them here.
    static Value told(const Value& memory) {
        auto told = Value::map({});
        for (const auto* name : {"status", "error"}) {
            if (const auto* member = memory.find(name)) {
                told = told.with(name, *member);
            }
        }
        return told;
    }

    std::map<trigger::Incarnation, std::string> paths_;
    std::map<trigger::TriggerNumber, std::map<std::string, LastState>> states_;
    std::map<std::string, std::map<std::string, LastState>> by_id_;
    std::size_t count_ = 0;
};

} // namespace

Result<Value> last_triggers(engine::Inspector& inspector, const engine::RunName& run) {
    auto shown = TRY(inspector.triggers(run));
    auto names = TRY(inspector.trigger_names(run));
    auto log = StateLog{};
    TRY(inspector.read_history(run, [&](const trigger::Entry& entry) {
        log.note(entry);
        return true;
    }));
    auto triggers = std::vector<Value>{};
    for (const auto& each : shown.as_list()) {
        auto last = log.of(value::text_at(*each.find("trigger"), "id"), names);
        auto states = std::vector<Value>{};
        for (const auto& state : each.find("states")->as_list()) {
            last.erase(value::text_at(state, "scope"));
            states.push_back(state);
        }
        for (const auto& [scope, state] : last) {
            states.push_back(Value::object({{"scope", scope},
                                            {"fired", value::number(state.fired)},
                                            {"memory", state.memory}}));
        }
        triggers.push_back(each.with("states", Value::list(std::move(states))));
    }
    return Value::list(std::move(triggers));
}

} // namespace sluice::server::inspect

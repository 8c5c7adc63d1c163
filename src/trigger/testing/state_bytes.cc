#include "trigger/testing/state_bytes.h"

#include <map>

#include <fmt/format.h>

#include "value/archive.h"
#include "value/json.h"

namespace sluice::trigger::testing {

namespace {

/// Calls `use(name, key, entity)` for each entity of a state, in order.
template <typename Use>
void for_each_entity(const RunState& state, Use use) {
    use("info", "", state.info);
    use("progress", "", state.progress);
    auto all = [&](const char* name, const auto& map, auto key_of) {
        for (const auto& [key, entity] : map) {
            use(name, key_of(key), entity);
        }
    };
    auto number = [](const auto& key) {
        if constexpr (requires { key.raw(); }) {
            return fmt::format("{}", key.raw());
        } else {
            return fmt::format("{}", key);
        }
    };
    auto triggers = [&](Incarnation scope, const TriggerStates& states) {
        auto sorted = std::map<std::uint32_t, const TriggerState*>{};
        for (auto [key, entity] : states) {
            sorted[key] = entity;
        }
        for (const auto& [key, entity] : sorted) {
            use("trigger", fmt::format("{}/{}", scope.raw(), key), *entity);
        }
    };
    triggers(root_scope, state.root_triggers);
    for (const auto& [scope, states] : state.scoped_triggers) {
        triggers(scope, states);
    }
    all("scope", state.scopes, number);
    all("task", state.tasks,
        [](const TaskKey& key) { return fmt::format("{}/{}", key.fire.raw(), key.index); });
    all("timer", state.timers, number);
    all("kept", state.kept, number);
    all("continuation", state.continuations, number);
    all("override", state.overrides, number);
    all("hold", state.holds, number);
    all("collected", state.collected, [](const CollectedKey& key) {
        return fmt::format("{}/{}/{}", key.scope.raw(), key.trigger.raw(), key.block);
    });
    if (state.place) {
        use("place", "", *state.place);
    }
    for (const auto& queued : state.queue) {
        use("queued", fmt::format("{}", queued.number), queued);
    }
}

} // namespace

std::string state_bytes(const RunState& state) {
    auto bytes = std::string{};
    auto out = Encoder{bytes};
    for_each_entity(state, [&](const char* name, const std::string& key, const auto& entity) {
        out.text(name);
        out.text(key);
        value::encode_fields(entity, out);
    });
    value::encode(state.context, out);
    for (const auto& [number, next] : state.continuation_next) {
        out.varint(number);
        out.varint(next);
    }
    return bytes;
}

std::string state_text(const RunState& state) {
    auto text = fmt::format("context {}\n", value::to_json(state.context));
    for_each_entity(state, [&](const char* name, const std::string& key, const auto& entity) {
        text +=
            fmt::format("{} {} {}\n", name, key, value::to_json(value::ArchiveView::view(entity)));
    });
    for (const auto& [number, next] : state.continuation_next) {
        text += fmt::format("next {} {}\n", number, next);
    }
    return text;
}

} // namespace sluice::trigger::testing

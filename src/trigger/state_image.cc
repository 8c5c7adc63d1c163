#include "trigger/state_image.h"

#include <algorithm>
#include <utility>

#include "trigger/internal/closing.h"
#include "value/archive.h"

namespace sluice::trigger {

namespace {

constexpr auto image_format = std::uint8_t{5};
constexpr auto image_format_placeless = std::uint8_t{4}; // Without a place.
constexpr auto image_format_oldest = std::uint8_t{3};    // Nor what triggers collected.

template <typename Map>
void write_map(const Map& map, value::ArchiveWriter& out) {
    out.write(static_cast<std::uint64_t>(map.size()));
    for (const auto& [key, entity] : map) {
        out.write(key);
        out.write(entity);
    }
}

template <typename Map, typename Use>
void read_map(Map& map, value::ArchiveReader& in, Use use) {
    auto size = std::uint64_t{0};
    in.read(size);
    for (auto at = std::uint64_t{0}; at < size && in.status(); ++at) {
        auto key = typename Map::key_type{};
        auto entity = typename Map::mapped_type{};
        in.read(key);
        in.read(entity);
        use(key, entity);
        map.insert_or_assign(std::move(key), std::move(entity));
    }
}

void write_triggers(const TriggerStates& states, value::ArchiveWriter& out) {
    // In order of number, so that equal states have equal images.
    auto sorted = std::map<std::uint32_t, const TriggerState*>{};
    for (auto [number, state] : states) {
        sorted[number] = state;
    }
    out.write(static_cast<std::uint64_t>(sorted.size()));
    for (const auto& [number, state] : sorted) {
        out.write(number);
        out.write(*state);
    }
}

void read_triggers(RunState& state, Incarnation scope, value::ArchiveReader& in) {
    auto& states = scope == root_scope ? state.root_triggers : state.scoped_triggers[scope];
    auto size = std::uint64_t{0};
    in.read(size);
    for (auto at = std::uint64_t{0}; at < size && in.status(); ++at) {
        auto number = std::uint32_t{0};
        auto read = TriggerState{};
        in.read(number);
        in.read(read);
        read.dirty_since = state.batch;
        state.dirty_triggers.push_back({.scope = scope, .trigger = TriggerNumber{number}});
        states[number] = std::move(read);
    }
}

} // namespace

void prepare_fork(RunState& state, const std::string& id, Time steady) {
    state.id = id;
    for (auto& [key, task] : state.tasks) {
        if (task.kind == TaskKind::Run) {
            task.child =
                nested_run_id(id, key.fire, key.index,
                              is_spread(task.child) ? Placement::Spread : Placement::Beside);
        }
    }
    for (auto& [number, timer] : state.timers) {
        if (!timer.is_absolute) {
            timer.due = Time{std::max(Nanos{0}, timer.due - steady)};
        }
    }
}

std::string encode_image(const RunState& state) {
    auto image = std::string{};
    auto encoder = Encoder{image};
    encoder.u8(image_format);
    auto out = value::ArchiveWriter{encoder};
    out.write(state.info);
    out.write(state.progress);
    out.write(state.context);
    write_triggers(state.root_triggers, out);
    out.write(static_cast<std::uint64_t>(state.scoped_triggers.size()));
    for (const auto& [scope, states] : state.scoped_triggers) {
        out.write(scope);
        write_triggers(states, out);
    }
    write_map(state.scopes, out);
    write_map(state.tasks, out);
    write_map(state.timers, out);
    write_map(state.kept, out);
    write_map(state.continuations, out);
    write_map(state.continuation_next, out);
    write_map(state.overrides, out);
    write_map(state.holds, out);
    out.write(static_cast<std::uint64_t>(state.queue.size()));
    for (const auto& queued : state.queue) {
        out.write(queued);
    }
    write_map(state.collected, out);
    out.write(state.place);
    return image;
}

std::string encode_next_generation(const RunState& state) {
    auto next = RunState{};
    next.info = state.info;
    next.info.input = state.progress.renewal->input;
    ++next.info.generation;
    next.progress = state.progress;
    next.progress.renewal.reset();
    next.progress.ids_forgotten_before.reset();
    next.context = state.progress.renewal->context;
    next.kept = state.kept;
    next.place = state.place;
    // Only what is on its way to sinks, and its next attempts, outlives a generation.
    next.tasks = state.tasks;
    next.timers = state.timers;
    if (state.info.set.empty()) {
        next.overrides = state.overrides; // There are no other triggers to begin with.
    }
    return encode_image(next);
}

Result<void> decode_image(std::string_view image, RunState& state) {
    auto decoder = Decoder{image};
    auto format = TRY(decoder.u8());
    if (format < image_format_oldest || format > image_format) {
        return fail(Errc::Unsupported, "state image of format {}: this program reads {}", format,
                    image_format);
    }
    auto in = value::ArchiveReader{decoder};
    in.read(state.info);
    in.read(state.progress);
    in.read(state.context);
    state.mark({.table = Table::Info});
    state.mark({.table = Table::Context});
    read_triggers(state, root_scope, in);
    auto scoped = std::uint64_t{0};
    in.read(scoped);
    for (auto at = std::uint64_t{0}; at < scoped && in.status(); ++at) {
        auto scope = Incarnation{};
        in.read(scope);
        read_triggers(state, scope, in);
    }
    read_map(state.scopes, in, [&](const std::string& path, const ScopeState& scope) {
        state.link(path, scope);
        state.mark({.table = Table::Scope, .path = path});
    });
    read_map(state.tasks, in, [&](const TaskKey& key, const TaskState& task) {
        state.members[task.scope].tasks.insert(key);
        state.mark({.table = Table::Task, .first = key.fire.raw(), .second = key.index});
    });
    read_map(state.timers, in, [&](TimerNumber number, const TimerState& timer) {
        state.members[timer.scope].timers.insert(number);
        state.mark({.table = Table::Timer, .first = number.raw()});
    });
    read_map(state.kept, in, [&](EventNumber number, const KeptEvent&) {
        state.mark({.table = Table::Kept, .first = number.raw()});
    });
    read_map(state.continuations, in, [&](std::uint64_t number, const Continuation&) {
        state.mark({.table = Table::Continuation, .first = number});
    });
    read_map(state.continuation_next, in, [&](std::uint64_t number, std::uint64_t) {
        state.mark({.table = Table::ContinuationNext, .first = number});
    });
    read_map(state.overrides, in, [&](TriggerNumber number, const TriggerOverride&) {
        state.mark({.table = Table::Override, .first = number.raw()});
    });
    read_map(state.holds, in, [&](Incarnation scope, const Hold&) {
        state.mark({.table = Table::Hold, .first = scope.raw()});
    });
    auto queued = std::uint64_t{0};
    in.read(queued);
    for (auto at = std::uint64_t{0}; at < queued && in.status(); ++at) {
        in.read(state.queue.emplace_back());
    }
    if (format >= image_format_placeless) {
        read_map(state.collected, in, [&](const CollectedKey& key, const CollectedBlock&) {
            state.mark(closing::entity_of(key));
        });
    }
    if (format == image_format) {
        in.read(state.place);
        state.mark({.table = Table::Place});
    }
    auto first = state.queue.empty() ? state.progress.emitted + 1 : state.queue.front().number;
    state.queue_stored_first = first;
    state.queue_stored_end = first;
    return in.status();
}

} // namespace sluice::trigger

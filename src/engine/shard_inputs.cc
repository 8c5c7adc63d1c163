#include <utility>

#include <fmt/format.h>

#include "engine/run_records.h"
#include "engine/shard.h"
#include "value/archive.h"

// What a shard does with each kind of input.
namespace sluice::engine {

namespace {

Value ending_of(const trigger::RunState& state) {
    return Value::object({{"status", to_string(state.progress.status)},
                          {"result", state.progress.result},
                          {"error", state.progress.error}});
}

std::unexpected<Error> no_such_run(const RunName& run) {
    return fail(Errc::NotFound, "there is no run \"{}\"", run.id);
}

} // namespace

ShardId shard_of(const Input& input, std::uint16_t shard_count) {
    if (const auto* events = std::get_if<EventsInput>(&input)) {
        return events->shard;
    }
    if (const auto* message = std::get_if<StreamInput>(&input)) {
        return message->to;
    }
    if (const auto* confirmation = std::get_if<ConfirmInput>(&input)) {
        return confirmation->to;
    }
    return std::visit(
        [&](const auto& each) {
            if constexpr (requires { each.run; }) {
                return shard_of(each.run, shard_count);
            } else {
                return ShardId{0};
            }
        },
        input);
}

Result<bool> Shard::begin(const RunName& run, trigger::RunInfo info, const Value& context) {
    auto* existing = TRY(runs_.find(run));
    if (existing != nullptr) {
        return false;
    }
    auto* awake = TRY(runs_.create(run, info.set));
    info.started = moment_.time;
    auto initial = awake->triggers->spec().context;
    if (context.is_map()) {
        for (const auto& [key, value] : context.as_map()) {
            initial = initial.with(key, value);
        }
    }
    decide(*awake, trigger::start_arrival(*awake->state, info, initial, moment_));
    return true;
}

Result<void> Shard::start(StartInput&& input) {
    auto started = begin(input.run, std::move(input.info), input.context);
    if (!started) {
        answer_later(std::move(input.done), std::unexpected(started.error()));
        return {};
    }
    answer_later(std::move(input.done),
                 Value::object({{"run", input.run.id}, {"existing", !*started}}));
    return {};
}

Result<void> Shard::fork(ForkInput&& input) {
    auto* existing = TRY(runs_.find(input.run));
    if (existing != nullptr) {
        answer_later(std::move(input.done),
                     fail(Errc::AlreadyExists, "there is a run \"{}\" already", input.run.id));
        return {};
    }
    auto* run = TRY(runs_.create(input.run, input.set));
    decide(*run, trigger::fork_arrival(*run->state, std::move(input.fork), moment_));
    TRY(run->triggers->restore(*run->state));
    answer_later(std::move(input.done), Value::object({{"run", input.run.id}}));
    return {};
}

/// A numbered stream waits at the first event that is refused; none is skipped.
bool Shard::is_behind_refused(const EventsInput& input) {
    auto refused = refused_at_.find(input.partition);
    if (refused == refused_at_.end() || input.numbers.empty()) {
        return false;
    }
    if (input.numbers.front() > refused->second) {
        return true;
    }
    refused_at_.erase(refused);
    return false;
}

void Shard::refuse(EventsInput& input, const std::string& run) {
    auto error =
        Error{Errc::Unavailable, fmt::format("run \"{}\" keeps as many events as it may", run)};
    release_.answers.emplace_back([done = std::exchange(input.done, nullptr),
                                   error](const Error*) mutable { done(std::unexpected(error)); });
}

Result<void> Shard::take_events(EventsInput&& input) {
    if (is_behind_refused(input)) {
        refuse(input, std::string{input.events.front().run()});
        has_changes_ = true;
        return {};
    }
    auto fates = std::vector<trigger::Fate>{};
    fates.reserve(input.events.size());
    auto* position = input.partition.empty() ? nullptr : &positions_[input.partition];
    AwakeRun* run = nullptr;
    for (auto at = std::size_t{0}; at < input.events.size(); ++at) {
        const auto& event = input.events[at];
        if (position != nullptr) {
            if (input.numbers[at] <= *position) {
                fates.push_back(trigger::Fate::Duplicate);
                continue;
            }
            *position = input.numbers[at];
        }
        if (run == nullptr || run->name.id != event.run()) {
            run = TRY(runs_.find({.space = input.space, .id = std::string{event.run()}}));
        }
        if (run == nullptr) {
            fates.push_back(trigger::Fate::Unmatched);
            continue;
        }
        reply_.reset();
        fates.push_back(decide(*run, {.event = event, .moment = moment_}));
        if (fates.back() == trigger::Fate::Refused && position != nullptr) {
            *position = input.numbers[at] - 1;
            refused_at_[input.partition] = input.numbers[at];
            refuse(input, run->name.id);
            break;
        }
    }
    if (position != nullptr) {
        moved_positions_.insert(input.partition);
    }
    has_changes_ = true;
    if (input.done) {
        release_.answers.emplace_back(
            [done = std::move(input.done), fates = std::move(fates)](const Error* error) mutable {
                error == nullptr ? done(std::move(fates)) : done(std::unexpected(*error));
            });
    }
    return {};
}

Result<void> Shard::command(CommandInput&& input) {
    auto* run = TRY(runs_.find(input.run));
    if (run == nullptr) {
        answer_later(std::move(input.done), no_such_run(input.run));
        return {};
    }
    reply_.reset();
    auto fate =
        decide(*run, trigger::command_arrival(*run->state, input.type, input.data, moment_));
    auto answer = Value::object({{"fate", to_string(fate)}});
    answer_later(std::move(input.done), reply_ ? answer.with("reply", *reply_) : answer);
    return {};
}

Result<void> Shard::answer(AnswerInput&& input) {
    auto* run = TRY(runs_.find(input.run));
    if (run != nullptr) {
        decide(*run, trigger::task_arrival(*run->state, input.key, input.attempt, input.answer,
                                           input.retry_after, moment_));
    }
    return {};
}

Result<void> Shard::take_message(StreamInput&& input) {
    auto& taken = taken_[input.from];
    has_changes_ = true;
    moved_streams_.insert(input.from); // Also a repeated one is confirmed again.
    if (input.number != taken + 1) {
        return {};
    }
    taken = input.number;
    auto& message = input.message;
    if (message.kind == Message::Kind::Start) {
        return start_child(message);
    }
    if (message.kind == Message::Kind::Remove) {
        return remove({.run = message.to, .when_running = WhenRunning::Terminate, .done = {}});
    }
    auto* run = TRY(runs_.find(message.to));
    if (run == nullptr) {
        return {};
    }
    switch (message.kind) {
        case Message::Kind::Command:
            decide(*run,
                   trigger::command_arrival(*run->state, message.type, message.data, moment_));
            break;
        case Message::Kind::Ended:
            decide(*run, trigger::child_arrival(*run->state, message.key, message.attempt,
                                                message.type, message.data, moment_));
            break;
        case Message::Kind::Event: {
            auto event = codec_.parse(message.json);
            if (event) {
                decide(*run, {.event = *std::move(event), .moment = moment_});
            }
            break;
        }
        case Message::Kind::Start:
        case Message::Kind::Remove: break;
    }
    return {};
}

/// A nested run; when it cannot be started its parent hears that it failed.
Result<void> Shard::start_child(const Message& message) {
    auto info = message.info;
    auto hash = services_.catalog.find(message.to.space, info.definition);
    auto problem = std::string{};
    if (hash) {
        info.set = *hash;
        auto started = begin(message.to, info, Value{});
        problem = !started    ? started.error().message
                  : !*started ? fmt::format("there is a run \"{}\" already", message.to.id)
                              : "";
    } else {
        problem = hash.error().message;
    }
    if (problem.empty() || !info.parent) {
        return {};
    }
    auto error = Value::object({{"kind", "start"}, {"message", problem}});
    auto parent = RunName{.space = message.to.space, .id = info.parent->run};
    outbox_.add_message(shard_of(parent, services_.store.shard_count()),
                        {.kind = Message::Kind::Ended,
                         .to = parent,
                         .type = std::string{trigger::types::run_failed},
                         .data = Value::object({{"run", message.to.id}, {"error", error}}),
                         .key = {.fire = info.parent->fire, .index = info.parent->index},
                         .attempt = info.parent->attempt});
    return {};
}

Result<void> Shard::query(QueryInput&& input) {
    auto* run = TRY(runs_.find(input.run));
    answer_later(std::move(input.done), input.read(run == nullptr ? nullptr : run->state.get()));
    return {};
}

Result<void> Shard::watch(WatchInput&& input) {
    auto* run = TRY(runs_.find(input.run));
    if (run == nullptr) {
        answer_later(std::move(input.done), no_such_run(input.run));
    } else if (run->state->has_ended()) {
        answer_later(std::move(input.done), ending_of(*run->state));
    } else {
        watchers_[input.run].push_back(std::move(input.done));
    }
    return {};
}

} // namespace sluice::engine

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "engine/run_records.h"
#include "engine/shard.h"
#include "value/archive.h"
#include "value/json.h"

// What a shard does with each kind of input.
namespace sluice::engine {

namespace {

Value ending_of(const trigger::RunState& state) {
    return Value::object({{"status", to_string(state.progress.status)},
                          {"result", state.progress.result},
                          {"error", state.progress.error}});
}

/// What a reply says that went wrong.
std::string message_in(const Value& reply) {
    const auto* error = reply.find("error");
    const auto* message = error == nullptr ? nullptr : error->find("message");
    return message != nullptr && message->is_string() ? std::string{message->as_string()}
                                                      : "the run did not take it";
}

bool gives_back(const Message& message) {
    auto event = value::parse_json(message.json);
    const auto* type = event ? event->find("type") : nullptr;
    return type != nullptr && *type == Value{trigger::types::place_left};
}

/// Whether an attempt was one of this very run, and not of one that had its name before, or of a
/// scope that was opened anew since.
bool is_of(const AttemptId& attempt, const trigger::RunState& state) {
    auto task = state.tasks.find(attempt.key);
    return attempt.started == state.info.started &&
           (task == state.tasks.end() || task->second.scope == attempt.scope);
}

/// Between attempts to start a nested run that there was no room for.
constexpr auto put_off_min = std::chrono::seconds{1};
constexpr auto put_off_max = std::chrono::seconds{30};
constexpr auto put_off_doublings_max = std::uint32_t{5};
/// Of what a parent is told: when it is to try again.
constexpr auto put_off_member = std::string_view{"retry_after"};

std::optional<Nanos> put_off_by(const Value& told) {
    const auto* delay = told.find(put_off_member);
    return delay == nullptr ? std::nullopt : std::optional{delay->as_duration()};
}

std::unexpected<Error> no_such_run(const RunName& run) {
    return fail(Errc::NotFound, "there is no run \"{}\"", run.id);
}

} // namespace

ShardId shard_of(const Input& input, std::uint16_t shard_count) {
    if (const auto* events = std::get_if<EventsInput>(&input)) {
        return events->shard;
    }
    if (const auto* move = std::get_if<MoveInput>(&input)) {
        return move->shard;
    }
    if (const auto* leave = std::get_if<LeaveInput>(&input)) {
        return leave->shard;
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
            } else if constexpr (requires { each.attempt.run; }) {
                return shard_of(each.attempt.run, shard_count);
            } else {
                return ShardId{0};
            }
        },
        input);
}

Result<Shard::Begun> Shard::begin(const RunName& run, trigger::RunInfo info, const Value& context,
                                  std::string_view trace) {
    auto* existing = TRY(runs_.find(run));
    if (existing != nullptr) {
        return Begun{.run = existing, .is_new = false};
    }
    auto* awake = TRY(runs_.create(run, info.set));
    info.started = moment_.time;
    auto initial = awake->triggers->spec().context;
    if (context.is_map()) {
        for (const auto& [key, value] : context.as_map()) {
            initial = initial.with(key, value);
        }
    }
    decide(*awake, trigger::start_arrival(*awake->state, std::move(info), std::move(initial),
                                          moment_, trace));
    return Begun{.run = awake, .is_new = true};
}

Result<void> Shard::start(StartInput&& input) {
    auto begun = begin(input.run, std::move(input.info), input.context);
    if (!begun) {
        answer_later(std::move(input.done), std::unexpected(begun.error()));
        answer_later(std::move(input.ended), std::unexpected(begun.error()));
        return {};
    }
    if (input.done) {
        answer_later(std::move(input.done),
                     Value::object({{"run", input.run.id}, {"existing", !begun->is_new}}));
    }
    if (input.ended) {
        watch(*begun->run,
              {.run = std::move(input.run), .done = std::move(input.ended), .id = input.watch});
    }
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
    if (!input.action.is_null()) {
        reply_.reset();
        auto data = Value::object({{"action", std::move(input.action)}});
        auto fate = decide(*run, trigger::command_arrival(*run->state, trigger::types::run_command,
                                                          data, moment_));
        if (fate != trigger::Fate::Handled) {
            auto why = message_in(reply_.value_or(Value{}));
            TRY(remove({.run = input.run, .when_running = WhenRunning::Terminate, .done = {}}));
            answer_later(std::move(input.done), fail(Errc::InvalidInput, "{}", why));
            return {};
        }
    }
    answer_later(std::move(input.done), Value::object({{"run", input.run.id}}));
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
    const auto& attempt = input.attempt;
    auto* run = TRY(runs_.find(attempt.run));
    auto fate = trigger::Fate::Late;
    if (run != nullptr && is_of(attempt, *run->state)) {
        fate = decide(*run, trigger::task_arrival(*run->state, attempt.key, attempt.attempt,
                                                  input.answer, input.retry_after, moment_));
    }
    answer_later(std::move(input.done), Value::object({{"fate", to_string(fate)}}));
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
    if (run == nullptr && trigger::is_standing_run_id(message.to.id)) {
        if (gives_back(message)) {
            return {}; // Whoever kept its place was removed.
        }
        run = TRY(start_standing(message.to));
    }
    if (run == nullptr) {
        if (message.kind == Message::Kind::Event) {
            return_to_sender(message, "no_such_run", "there is no such run");
        }
        return {};
    }
    switch (message.kind) {
        case Message::Kind::Command:
            decide(*run,
                   trigger::command_arrival(*run->state, message.type, message.data, moment_));
            break;
        case Message::Kind::Ended:
            decide(*run,
                   trigger::child_arrival(*run->state, message.key, message.attempt, message.type,
                                          message.data, moment_, put_off_by(message.data)));
            break;
        case Message::Kind::Event: {
            auto event = codec_.parse(message.json);
            if (!event) {
                break;
            }
            auto fate =
                decide(*run, trigger::sent_arrival(*std::move(event), message.sender, moment_));
            if (fate == trigger::Fate::Refused || fate == trigger::Fate::Busy) {
                return_to_sender(message, "kept_full", "the run keeps as many events as it may");
            }
            break;
        }
        case Message::Kind::Undelivered:
            decide(*run, trigger::undelivered_arrival(*run->state, message.sender, message.from,
                                                      message.data, moment_));
            break;
        case Message::Kind::Reply:
            decide(*run, trigger::reply_arrival(*run->state, message.sender, message.from,
                                                message.data, moment_));
            break;
        case Message::Kind::Start:
        case Message::Kind::Remove: break;
    }
    return {};
}

/// Its stream goes on, since others wait behind it: so whoever sent it hears that it was not taken.
void Shard::return_to_sender(const Message& message, std::string_view kind, std::string_view why) {
    auto sender = RunName{.space = message.to.space, .id = message.from};
    auto event = value::parse_json(message.json);
    auto data = Value::object({{"run", message.to.id},
                               {"event", event ? *std::move(event) : Value{message.json}},
                               {"error", Value::object({{"kind", kind}, {"message", why}})}});
    outbox_.add_message(shard_of(sender, services_.store.shard_count()),
                        {.kind = Message::Kind::Undelivered,
                         .to = sender,
                         .data = std::move(data),
                         .from = message.to.id,
                         .sender = message.sender});
}

Result<AwakeRun*> Shard::start_standing(const RunName& run) {
    auto set = TRY(services_.catalog.standing(run.id));
    if (!set) {
        return nullptr;
    }
    return TRY(begin(run, trigger::RunInfo{.set = *std::move(set)}, Value{})).run;
}

std::string Shard::refuse_child(const RunName& run) {
    if (services_.admit_nested == nullptr || !*services_.admit_nested) {
        return "";
    }
    auto admitted = (*services_.admit_nested)(run.space);
    if (!admitted) {
        return admitted.error().message;
    }
    if (*admitted) {
        release_.answers.emplace_back([kept = *std::move(admitted)](const Error* /*error*/) {});
    }
    return "";
}

/// The parent's task makes another attempt, so that what is put off is stored where it belongs.
void Shard::put_off(const Message& message, const std::string& why) {
    const auto& parent = *message.info.parent;
    auto doublings = std::min(parent.attempt - 1, put_off_doublings_max);
    auto delay = std::min<Nanos>(put_off_min * (1U << doublings), put_off_max);
    auto error = Value::object({{"kind", "quota_exceeded"}, {"message", why}});
    tell_parent(message.to, parent, trigger::types::run_failed,
                Value::object({{"run", message.to.id},
                               {"error", std::move(error)},
                               {std::string{put_off_member}, Value{delay}}}));
}

/// A nested run; when it cannot be started its parent hears that it failed.
Result<void> Shard::start_child(const Message& message) {
    auto info = message.info;
    if (auto why = info.parent ? refuse_child(message.to) : ""; !why.empty()) {
        // One that is there already needs no room.
        if (auto* existing = TRY(runs_.find(message.to)); existing == nullptr) {
            put_off(message, why);
            return {};
        }
    }
    auto meaning = services_.catalog.meaning(message.to.space, info.definition, message.to.id);
    auto problem = std::string{};
    if (meaning) {
        info.definition = meaning->definition;
        info.set = meaning->hash;
        for (const auto& [name, label] : meaning->labels.is_map()
                                             ? meaning->labels.as_map()
                                             : std::span<const value::Member>{}) {
            info.labels = info.labels.with(name, label);
        }
        auto trace = message.data.is_string() ? message.data.as_string() : std::string_view{};
        auto started = begin(message.to, info, Value{}, trace);
        problem = !started           ? started.error().message
                  : !started->is_new ? fmt::format("there is a run \"{}\" already", message.to.id)
                                     : "";
        if (started && !started->is_new && message.type == adopt_word) {
            problem = TRY(adopt(message.to, info));
        }
    } else {
        problem = meaning.error().message;
    }
    if (problem.empty() || !info.parent) {
        return {};
    }
    auto error = Value::object({{"kind", "start"}, {"message", problem}});
    tell_parent(message.to, *info.parent, trigger::types::run_failed,
                Value::object({{"run", message.to.id}, {"error", error}}));
    return {};
}

Result<std::string> Shard::adopt(const RunName& name, const trigger::RunInfo& info) {
    auto* run = TRY(runs_.find(name));
    const auto& [own, progress] = std::tie(run->state->info, run->state->progress);
    if (own.definition != info.definition) {
        return fmt::format("there is a run \"{}\" already, of {}", name.id, own.definition);
    }
    if (progress.status == trigger::Status::Succeeded) {
        tell_parent(name, *info.parent, trigger::types::run_succeeded,
                    Value::object({{"run", name.id}, {"result", progress.result}}));
        return "";
    }
    if (progress.is_sweeping) {
        return fmt::format("run \"{}\" still cancels what it had open", name.id);
    }
    if (own.parent && own.parent->run != info.parent->run && !run->state->has_ended()) {
        return fmt::format("run \"{}\" is under way for {}", name.id, own.parent->run);
    }
    auto adoption = trigger::adoption(*info.parent);
    if (run->state->has_ended()) {
        TRY(reopen({.run = name, .told = std::move(adoption), .done = {}}));
    } else {
        decide(*run, trigger::command_arrival(*run->state, trigger::types::run_adopted, adoption,
                                              moment_));
    }
    return "";
}

void Shard::tell_parent(const RunName& run, const trigger::Parent& parent, std::string_view type,
                        Value data) {
    auto target = RunName{.space = run.space, .id = parent.run};
    outbox_.add_message(shard_of(target, services_.store.shard_count()),
                        {.kind = Message::Kind::Ended,
                         .to = target,
                         .type = std::string{type},
                         .data = std::move(data),
                         .key = {.fire = parent.fire, .index = parent.index},
                         .attempt = parent.attempt});
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
    } else {
        watch(*run, std::move(input));
    }
    return {};
}

void Shard::watch(AwakeRun& run, WatchInput&& input) {
    if (run.state->has_ended()) {
        answer_later(std::move(input.done), ending_of(*run.state));
    } else {
        watchers_[run.name].push_back(std::move(input));
    }
}

void Shard::unwatch(const UnwatchInput& input) {
    auto waiting = watchers_.find(input.run);
    if (waiting == watchers_.end()) {
        return;
    }
    std::erase_if(waiting->second, [&](const WatchInput& each) { return each.id == input.id; });
    if (waiting->second.empty()) {
        watchers_.erase(waiting);
    }
}

Result<void> Shard::reopen(ReopenInput&& input) {
    auto* run = TRY(runs_.find(input.run));
    if (run == nullptr) {
        answer_later(std::move(input.done), no_such_run(input.run));
        return {};
    }
    auto status = run->state->progress.status;
    if (!run->state->has_ended() || status == trigger::Status::Succeeded) {
        answer_later(std::move(input.done),
                     fail(Errc::Conflict,
                          "run \"{}\" {}: only one that failed, was cancelled or timed out can be "
                          "reopened",
                          input.run.id,
                          status == trigger::Status::Succeeded ? "has succeeded"
                          : status == trigger::Status::Queued  ? "is queued"
                                                               : "is running"));
        return {};
    }
    if (run->state->progress.is_sweeping) {
        reopening_[input.run].push_back(std::move(input));
        return {};
    }
    auto data =
        Value::object({{"status", to_string(status)}, {"error", run->state->progress.error}});
    for (const auto& [name, member] :
         input.told.is_map() ? input.told.as_map() : std::span<const value::Member>{}) {
        data = data.with(name, member);
    }
    decide(*run,
           trigger::command_arrival(*run->state, trigger::types::run_reopened, data, moment_));
    answer_later(
        std::move(input.done),
        Value::object({{"run", input.run.id},
                       {"generation", static_cast<std::int64_t>(run->state->info.generation)}}));
    return {};
}

} // namespace sluice::engine

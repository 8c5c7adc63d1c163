#include "cluster/carried_input.h"

#include <type_traits>
#include <utility>

#include "event/codec.h"
#include "value/archive.h"

namespace sluice::cluster {

namespace {

using engine::AnswerInput;
using engine::CommandInput;
using engine::ConfirmInput;
using engine::EventsInput;
using engine::ForkInput;
using engine::HeartbeatInput;
using engine::Input;
using engine::LeaveInput;
using engine::MoveInput;
using engine::RemoveInput;
using engine::ReopenInput;
using engine::StartInput;
using engine::StreamInput;
using engine::WatchInput;

constexpr auto input_format = std::uint8_t{1};
constexpr auto answer_format = std::uint8_t{1};

/// Which one it is; the numbers are on the wire.
enum class Kind : std::uint8_t {
    Start = 1,
    Fork,
    Command,
    Answer,
    Stream,
    Confirm,
    Watch,
    Reopen,
    Remove,
    Heartbeat,
    Events,
    Move,
    Leave
};

template <typename Archive, typename T>
void run_fields(Archive& archive, T& input) {
    archive("space", input.run.space)("run", input.run.id);
}

template <typename Archive>
void fields_of(Archive& archive, StartInput& input) {
    run_fields(archive, input);
    archive("info", input.info)("context", input.context);
}
template <typename Archive>
void fields_of(Archive& archive, ForkInput& input) {
    run_fields(archive, input);
    archive("fork", input.fork)("set", input.set)("action", input.action);
}
template <typename Archive>
void fields_of(Archive& archive, CommandInput& input) {
    run_fields(archive, input);
    archive("type", input.type)("data", input.data);
}
template <typename Archive>
void attempt_fields(Archive& archive, engine::AttemptId& id) {
    auto& [run, started, key, attempt, scope] = id;
    archive("space", run.space)("run", run.id)("started", started)("key", key)("attempt", attempt)(
        "scope", scope);
}
template <typename Archive>
void fields_of(Archive& archive, HeartbeatInput& input) {
    attempt_fields(archive, input.attempt);
    archive("lease", input.lease);
}
template <typename Archive>
void fields_of(Archive& archive, AnswerInput& input) {
    auto& answer = input.answer;
    attempt_fields(archive, input.attempt);
    archive("is_success", answer.is_success)("result", answer.result)(
        "error_kind", answer.error_kind)("error_message", answer.error_message)(
        "error_detail", answer.error_detail)("asked", answer.retry_after)("retry_after",
                                                                          input.retry_after);
}
template <typename Archive>
void fields_of(Archive& archive, StreamInput& input) {
    archive("from", input.from)("to", input.to)("number", input.number)("message", input.message);
}
template <typename Archive>
void fields_of(Archive& archive, ConfirmInput& input) {
    archive("from", input.from)("to", input.to)("number", input.number);
}
template <typename Archive>
void fields_of(Archive& archive, WatchInput& input) {
    run_fields(archive, input);
    archive("id", input.id);
}
template <typename Archive>
void fields_of(Archive& archive, ReopenInput& input) {
    run_fields(archive, input);
    archive("told", input.told);
}
template <typename Archive>
void fields_of(Archive& archive, RemoveInput& input) {
    run_fields(archive, input);
    archive("when_running", input.when_running);
}

template <typename Archive>
void fields_of(Archive& archive, MoveInput& input) {
    archive("shard", input.shard)("partition", input.partition)("number", input.number);
}
template <typename Archive>
void fields_of(Archive& archive, LeaveInput& input) {
    archive("shard", input.shard)("partition", input.partition)("is_counted", input.is_counted);
}
/// Without its events, which follow as JSON.
template <typename Archive>
void fields_of(Archive& archive, EventsInput& input) {
    archive("shard", input.shard)("space", input.space)("partition", input.partition)(
        "numbers", input.numbers)("is_counted", input.is_counted);
}

template <typename T>
constexpr auto kind_of() {
    if constexpr (std::is_same_v<T, StartInput>) {
        return Kind::Start;
    } else if constexpr (std::is_same_v<T, ForkInput>) {
        return Kind::Fork;
    } else if constexpr (std::is_same_v<T, CommandInput>) {
        return Kind::Command;
    } else if constexpr (std::is_same_v<T, AnswerInput>) {
        return Kind::Answer;
    } else if constexpr (std::is_same_v<T, StreamInput>) {
        return Kind::Stream;
    } else if constexpr (std::is_same_v<T, ConfirmInput>) {
        return Kind::Confirm;
    } else if constexpr (std::is_same_v<T, WatchInput>) {
        return Kind::Watch;
    } else if constexpr (std::is_same_v<T, ReopenInput>) {
        return Kind::Reopen;
    } else if constexpr (std::is_same_v<T, RemoveInput>) {
        return Kind::Remove;
    } else if constexpr (std::is_same_v<T, HeartbeatInput>) {
        return Kind::Heartbeat;
    } else if constexpr (std::is_same_v<T, EventsInput>) {
        return Kind::Events;
    } else if constexpr (std::is_same_v<T, MoveInput>) {
        return Kind::Move;
    } else if constexpr (std::is_same_v<T, LeaveInput>) {
        return Kind::Leave;
    } else {
        return Kind{0};
    }
}

template <typename T>
Result<Input> decode_as(Decoder& in, engine::Done done) {
    auto input = T{};
    auto reader = value::ArchiveReader{in};
    fields_of(reader, input);
    TRY(reader.status());
    if constexpr (requires { input.done; }) {
        input.done = std::move(done);
    }
    return Input{std::move(input)};
}

Result<Input> decode_events(Decoder& in, engine::Done done) {
    auto input = EventsInput{};
    auto reader = value::ArchiveReader{in};
    fields_of(reader, input);
    TRY(reader.status());
    auto codec = event::Codec{};
    for (auto at = std::size_t{0}; at < input.numbers.size(); ++at) {
        input.events.push_back(TRY(codec.parse(TRY(in.text()))));
    }
    input.done = [done = std::move(done)](const Result<engine::Receipt>& receipt) mutable {
        if (!done) {
            return;
        }
        done(receipt ? Result<Value>{Value{}} : std::unexpected(receipt.error()));
    };
    return Input{std::move(input)};
}

} // namespace

bool can_be_carried(const Input& input) {
    return std::visit(
        [](const auto& each) { return kind_of<std::decay_t<decltype(each)>>() != Kind{0}; }, input);
}

bool is_repeatable(const Input& input) {
    return !std::holds_alternative<CommandInput>(input) &&
           !std::holds_alternative<ForkInput>(input);
}

std::string encode_input(const Input& input) {
    auto bytes = std::string{};
    auto out = Encoder{bytes};
    out.u8(input_format);
    std::visit(
        [&](const auto& each) {
            using Kept = std::decay_t<decltype(each)>;
            if constexpr (kind_of<Kept>() != Kind{0}) {
                out.u8(static_cast<std::uint8_t>(kind_of<Kept>()));
                auto writer = value::ArchiveWriter{out};
                fields_of(writer, const_cast<Kept&>(each)); // Fields are listed once for both ways.
            }
            if constexpr (std::is_same_v<Kept, EventsInput>) {
                for (const auto& event : each.events) {
                    out.text(event.json());
                }
            }
        },
        input);
    return bytes;
}

Result<Input> decode_input(std::string_view bytes, engine::Done done) {
    auto in = Decoder{bytes};
    TRY(in.format(input_format, "input of another process"));
    switch (static_cast<Kind>(TRY(in.u8()))) {
        case Kind::Start: return decode_as<StartInput>(in, std::move(done));
        case Kind::Fork: return decode_as<ForkInput>(in, std::move(done));
        case Kind::Command: return decode_as<CommandInput>(in, std::move(done));
        case Kind::Answer: return decode_as<AnswerInput>(in, std::move(done));
        case Kind::Stream: return decode_as<StreamInput>(in, std::move(done));
        case Kind::Confirm: return decode_as<ConfirmInput>(in, std::move(done));
        case Kind::Watch: return decode_as<WatchInput>(in, std::move(done));
        case Kind::Reopen: return decode_as<ReopenInput>(in, std::move(done));
        case Kind::Remove: return decode_as<RemoveInput>(in, std::move(done));
        case Kind::Heartbeat: return decode_as<HeartbeatInput>(in, std::move(done));
        case Kind::Events: return decode_events(in, std::move(done));
        case Kind::Move: return decode_as<MoveInput>(in, std::move(done));
        case Kind::Leave: return decode_as<LeaveInput>(in, std::move(done));
    }
    return fail(Errc::Corrupt, "an input of another process is of no kind that there is");
}

std::string encode_answer(const Result<Value>& answer) {
    auto bytes = std::string{};
    auto out = Encoder{bytes};
    out.u8(answer_format);
    out.u8(answer ? 1 : 0);
    if (answer) {
        value::encode(*answer, out);
    } else {
        out.u8(static_cast<std::uint8_t>(answer.error().code));
        out.text(answer.error().message);
    }
    return bytes;
}

Result<Value> decode_answer(std::string_view bytes) {
    auto in = Decoder{bytes};
    TRY(in.format(answer_format, "answer of another process"));
    if (TRY(in.u8()) == 1) {
        return value::decode(in);
    }
    auto code = TRY(in.u8());
    if (code > static_cast<std::uint8_t>(Errc::Internal)) {
        return fail(Errc::Corrupt, "an answer of another process has no error that there is");
    }
    auto message = std::string{TRY(in.text())};
    return std::unexpected(Error{static_cast<Errc>(code), std::move(message)});
}

} // namespace sluice::cluster

#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "event/sink.h"
#include "value/value.h"
#include "workflow/raw/finding.h"

namespace sluice::trial {

/// What a mocked function answers to one call, or to the attempts of one.
struct Reply {
    enum class Kind : std::uint8_t { Answer, Never, Attempts };

    Kind kind = Kind::Answer;
    event::Answer answer;
    Nanos delay{0};
    std::optional<Value> when;   ///< A part of the input that it is for; nothing: any input.
    std::vector<Reply> attempts; ///< The first is for the first attempt, the last for all behind.
};

/// Replies by the name of a function or a task. Those with a `when` that an input has are for it,
/// or else those without: each is given once, in order, and the last from then on.
using Replies = std::map<std::string, std::vector<Reply>, std::less<>>;

struct SentEvent {
    Nanos after{0}; ///< The run's start.
    std::string type;
    std::string subject;
    std::string scope;
    Value data;
};

/// What a person says to a task once it waits or is halted, and not before a time.
struct Word {
    Nanos after{0};
    std::string task;   ///< By its place: `tiles/17/check`.
    std::string action; ///< `task.approve`, `task.skip`, …
    Value params;       ///< Of the action.

    /// What the task must be to hear it.
    std::string_view awaited() const { return action == "task.approve" ? "waiting" : "halted"; }
};

/// Somebody asks the run to end.
struct Cancellation {
    Nanos after{0};
    std::string reason; ///< Empty: none is given.
};

struct ExpectedCalls {
    std::string name; ///< Of a function or a task; or of a sink.
    std::optional<std::uint64_t> count;
    std::optional<Value> inputs; ///< A list, of parts of inputs or events, in order.
};

/// What a case says of its run; what it does not say does not matter.
struct Expected {
    std::string status = "succeeded";
    std::optional<Value> result;
    std::optional<Value> result_has;
    std::optional<std::string> error_kind;      ///< Of it, or of what caused it.
    std::optional<Value> error;                 ///< A part of it.
    std::map<std::string, std::string> tasks;   ///< Statuses by place.
    std::map<std::string, std::uint64_t> fired; ///< Firings by trigger.
    std::vector<ExpectedCalls> calls;
    std::vector<ExpectedCalls> sent; ///< Events to sinks.
    std::vector<std::string> order;  ///< Functions or tasks, as they are called.
    std::optional<Nanos> duration;
    std::optional<Nanos> at_least;
    std::optional<Nanos> at_most;
};

/// One run of a definition, with everything around it made up.
struct Case {
    std::string name;
    std::optional<Value> input; ///< Nothing: the definition's.
    Time start{};
    Replies functions;
    Replies tasks;
    std::vector<SentEvent> events;
    std::vector<Word> words; ///< In the order in which they are said.
    std::optional<Cancellation> cancel;
    Expected expected;
};

struct TestFile {
    std::string definition; ///< Its path, from the folder of this file.
    std::vector<Case> cases;
};

/// Reads YAML or JSON. Everything that is wrong has its line and column.
std::expected<TestFile, std::vector<workflow::raw::Finding>> parse_tests(std::string_view text,
                                                                         std::string_view file);

} // namespace sluice::trial

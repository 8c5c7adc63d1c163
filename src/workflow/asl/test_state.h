#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <variant>

#include "base/clock.h"
#include "value/value.h"

namespace sluice::workflow::asl {

/// What stands for the work of a state that is tested.
struct TestMock {
    /// How closely a result is held to what the service's API would answer.
    enum class Validation : std::uint8_t {
        Strict,  ///< Members that are always there must be there, and each of its type.
        Present, ///< What is there must be of its type.
        None,
    };
    /// The work fails.
    struct Error {
        std::optional<std::string> error;
        std::optional<std::string> cause;
    };

    std::variant<Value, Error> outcome;
    Validation validation = Validation::Strict;
};

/// One call of TestState, its texts parsed.
struct StateTest {
    Value definition;  ///< A state, or a machine of which `state` names one.
    std::string state; ///< Empty: the definition is the state.
    Value input;
    std::optional<Value> context{}; ///< In place of the one that is made.
    Value variables;                ///< A map; null: there are none.
    std::optional<TestMock> mock{};
    std::uint32_t retries = 0; ///< That the retrier which takes an error has made.
    std::string failing_state; ///< Inside a Map or Parallel: where the mocked error comes from.
    std::optional<std::uint64_t> failed_iterations{}; ///< Of a Map.
    std::optional<Value> reader_items{};              ///< What the ItemReader of a Map reads.
    std::string role;
    std::string account = "123456789012";
    std::string region = "us-east-1";
    Time now{};
    std::uint64_t chance = 0; ///< Seeds what is random.
};

struct StateTestOutcome {
    std::string status; ///< `SUCCEEDED`, `FAILED`, `RETRIABLE` or `CAUGHT_ERROR`.
    std::optional<Value> output{};
    std::optional<std::string> error{};
    std::optional<std::string> cause{};
    std::string next_state; ///< Empty: there is none.
    /// `input`, `afterInputPath` and the like, payloads as values.
    Value inspection;
};

/// A task that is not mocked has to be done by somebody: then it is tested again with what came of
/// it as mock.
struct NeededCall {
    std::string resource;
    Value arguments;
};

/// Why the call itself is refused, by the service's name for it.
struct StateTestProblem {
    std::string type; ///< `ValidationException`, `InvalidDefinition`
    std::string message;
};

/// What the state does with its input, looked at field by field. Nothing is called and nobody
/// waits: the same test has the same outcome.
std::expected<std::variant<StateTestOutcome, NeededCall>, StateTestProblem> test_state(
    const StateTest& test);

} // namespace sluice::workflow::asl

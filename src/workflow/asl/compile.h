#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "value/value.h"
#include "workflow/raw/compile.h"

namespace sluice::workflow::asl {

/// The function that answers for all tasks of a machine that is mocked. It takes `{state, resource,
/// input}` and gives an outcome as `Mocks` has them.
inline constexpr auto mock_function = std::string_view{"sluice.asl.mock"};

/// The function that reads a page of items for a Map state: what `ItemPages` does.
inline constexpr auto items_function = std::string_view{"sluice.items"};

/// The function that writes the results of one: what `write_results` does.
inline constexpr auto results_function = std::string_view{"sluice.results"};

/// The function that starts an execution and does not wait for it: takes `{machine, name, input,
/// target?}`, where an empty name stands for any and the target names a version or alias, gives
/// `{machine, name, started}`.
inline constexpr auto start_function = std::string_view{"states:startExecution"};

struct CompileOptions {
    std::string name;
    bool is_express = false;
    std::string account{};  ///< In ARNs; empty: 123456789012.
    bool is_mocked = false; ///< Every task is answered by `mock_function`.
    /// Every task calls a function: where nobody else is there, that of its integration's name,
    /// such as `sqs:sendMessage`.
    bool is_tried = false;
    /// Of a machine that is mocked: whether the task of a state is, for an activity that nobody
    /// stands for does not exist. Empty: all are.
    std::function<bool(std::string_view state)> has_mock{};
    /// Of the history; zero: the service's, 25,000 events, and no limit for express machines.
    std::uint64_t events_max = 0;
};

/// One trigger for each state, numbered as the states are read, and one that begins the machine.
/// The form must have passed `read`.
raw::Definition compile(const Value& form, const CompileOptions& options);

} // namespace sluice::workflow::asl

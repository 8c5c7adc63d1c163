#pragma once

#include <expected>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/result.h"
#include "value/value.h"

namespace sluice::server::stepfunctions {

/// Why an operation is refused, by the service's name for it.
struct Fault {
    std::string type; ///< `StateMachineDoesNotExist`
    std::string message;
    int status = 400;
};

/// What an operation gives.
using Answer = std::expected<Value, Fault>;

/// `return refuse("InvalidName", "Invalid Name: '{}'", name);`
template <typename... Args>
std::unexpected<Fault> refuse(std::string type, fmt::format_string<Args...> format,
                              Args&&... args) {
    return std::unexpected(Fault{.type = std::move(type),
                                 .message = fmt::format(format, std::forward<Args>(args)...)});
}

/// An error of ours, which no name of the service fits.
Fault fault_of(const Error& error);

/// The value of a Result, its error as a fault.
template <typename T>
std::expected<T, Fault> or_fault(Result<T> result) {
    if (!result) {
        return std::unexpected(fault_of(result.error()));
    }
    if constexpr (std::is_void_v<T>) {
        return {};
    } else {
        return *std::move(result);
    }
}

} // namespace sluice::server::stepfunctions

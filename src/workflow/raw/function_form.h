#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "value/value.h"

namespace sluice::workflow::raw {

enum class FunctionKind : std::uint8_t { Builtin, Process };

/// A function as the section `functions` declares it.
struct FunctionForm {
    std::string name;
    FunctionKind kind = FunctionKind::Builtin;
    std::string builtin;           ///< Which of the built-in ones it is.
    std::vector<std::string> argv; ///< A command written as a text is run by `sh -c`.
    std::vector<std::pair<std::string, std::string>> environment;
    std::string directory;
    Value policy;                  ///< `timeout` and `retry` as written; null: neither.
    std::uint32_t concurrency = 0; ///< Zero: no limit.

    bool operator==(const FunctionForm&) const = default;
};

/// Is there without being declared: echo, fail, flaky, noop, sleep.
bool is_builtin(std::string_view function);

} // namespace sluice::workflow::raw

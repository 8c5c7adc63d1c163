#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/problem.h"
#include "value/value.h"

namespace sluice::server {

/// The functions there are, and those that people set up through the API. The server knows no kind
/// of them. Members may be called from any thread.
class FunctionSetup {
public:
    virtual ~FunctionSetup() = default;

    /// Adds it to a namespace, or puts it in the place of its own; durable when it returns, which
    /// blocks. Calls from now on go to it. Gives what `find` would.
    virtual std::expected<Value, Problem> put(const std::string& space, const std::string& name,
                                              const Value& form) = 0;
    virtual std::expected<void, Problem> remove(const std::string& space,
                                                const std::string& name) = 0;
    /// What runs of this namespace would call: {function, kind, origin, …}.
    virtual std::optional<Value> find(std::string_view space, std::string_view name) const = 0;
    /// In the order of their names.
    virtual std::vector<Value> list(std::string_view space) const = 0;
};

} // namespace sluice::server

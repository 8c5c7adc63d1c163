#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "value/value.h"

namespace sluice::expr {

/// A fault in the author's expression: not an error of ours but a value the workflow may catch.
struct Fault {
    /// `no_such_member`, `no_such_overload`, `overflow`, `divide_by_zero`, `budget`, …
    std::string code;
    std::string message;
    std::size_t position = 0; ///< Byte in the expression's text.

    bool operator==(const Fault&) const = default;
};

/// "no such name (at byte 4)": for messages that have no place of their own for the position.
inline std::string describe(const Fault& fault) {
    return fault.message + " (at byte " + std::to_string(fault.position) + ")";
}

using Outcome = std::variant<Value, Fault>;

/// What the names of an expression stand for. Asked for the longest static path (`event.data.a.b`
/// is one question), so that an event's data need not be parsed whole.
class Bindings {
public:
    virtual ~Bindings() = default;
    /// The value at `path`, the first part being a declared name; nothing when a member on the way
    /// is missing. A part of digits alone is an index of a list: keys that look so are never asked
    /// for by path.
    virtual std::optional<Value> resolve(std::span<const std::string_view> path) const = 0;
};

struct Budget {
    std::uint64_t steps_max = 100'000;
    std::size_t depth_max = 64;
    std::size_t output_bytes_max = 1024UL * 1024;
    /// Of what is made on the way, in languages that make values of any size.
    std::size_t memory_bytes_max = 64UL * 1024 * 1024;
    /// Evaluations inside one another, in languages whose functions call themselves.
    std::size_t call_depth_max = 1000;
};

struct CompileOptions {
    std::vector<std::string> names; ///< The roots that may be used.
    bool must_be_bool = false;      ///< Refuse what can be seen not to yield a bool.
};

/// What a language makes of an expression: immutable, shared between threads.
class Code {
public:
    virtual ~Code() = default;
    /// The same bindings give the same outcome.
    virtual Outcome evaluate(const Bindings& bindings, const Budget& budget) const = 0;
};

/// A compiled expression of any language. Copies share it.
class Program {
public:
    Program(std::string_view text, std::shared_ptr<const Code> code)
        : text_{text}, code_{std::move(code)} {}

    Outcome evaluate(const Bindings& bindings, const Budget& budget = {}) const {
        return code_->evaluate(bindings, budget);
    }
    const std::string& text() const { return text_; }
    /// For what its own language can say of it.
    const Code& code() const { return *code_; }

private:
    std::string text_;
    std::shared_ptr<const Code> code_;
};

/// What a language's `compile` gives: the author's mistakes are faults here too.
using Compiled = std::expected<Program, Fault>;

} // namespace sluice::expr

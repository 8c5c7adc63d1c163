#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
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
};

enum class Language : std::uint8_t { Cel };

struct CompileOptions {
    Language language = Language::Cel;
    std::vector<std::string> names; ///< The roots that may be used.
    bool must_be_bool = false;      ///< Refuse what can be seen not to yield a bool.
};

/// A compiled expression: immutable, shared between threads. The same bindings give the same
/// outcome.
class Program {
public:
    /// Fails with InvalidInput: unknown names, bad syntax; the message ends with the byte position.
    static Result<Program> compile(std::string_view text, const CompileOptions& options);

    Outcome evaluate(const Bindings& bindings, const Budget& budget = {}) const;

    const std::string& text() const;

private:
    struct Code;
    explicit Program(std::shared_ptr<const Code> code);
    std::shared_ptr<const Code> code_;
};

/// A value with `${…}` in its texts, at any depth. A text that is one `${…}` yields the
/// expression's value, otherwise values are put into the text. `$${` is a literal `${`.
class Template {
public:
    Template() = default;
    static Result<Template> compile(const Value& pattern, const CompileOptions& options);

    /// A fault's position is the byte in the text that its message names.
    Outcome evaluate(const Bindings& bindings, const Budget& budget = {}) const;
    /// Without expressions, so evaluating gives the same for all bindings.
    bool is_constant() const;
    const Value& pattern() const { return pattern_; }

private:
    struct Node;
    Value pattern_;
    std::shared_ptr<const Node> root_; ///< Nothing in a template that was not compiled.
};

} // namespace sluice::expr

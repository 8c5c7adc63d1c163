#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.h"
#include "expr/program.h"
#include "value/value.h"

namespace sluice::expr::jsonata {

namespace internal {
struct Tree;
} // namespace internal

/// JSONata's "nothing": neither a value nor a fault.
struct Undefined {
    bool operator==(const Undefined&) const = default;
};

using Answer = std::variant<Value, Undefined, Fault>;

/// A function that the host adds ($uuid, $hash, … of States Language).
struct NativeFunction {
    std::string name;
    std::string signature; ///< JSONata's own, for example `<n-n:n>`; empty: whatever is given.
    /// Arguments that are undefined at the end are left out, others are null.
    std::function<Answer(std::span<const Value> arguments, Random& chance)> call;
};

struct Options {
    std::vector<NativeFunction> functions;
    bool has_eval = true;
    std::vector<std::string> names; ///< Bound from outside; empty: any.
};

/// What makes an evaluation give the same answer again.
struct Circumstances {
    Time now;               ///< For `$now` and `$millis`.
    std::uint64_t seed = 0; ///< For `$random`, `$shuffle` and the host's functions.
};

/// A compiled JSONata expression. Immutable, shared between threads; copies share it.
///
/// Faults have the codes of the reference implementation (`S0201`, `T2001`, `D3001`, …, `U1001`
/// when a budget is spent) and the byte of the expression's text as their position.
class Expression {
public:
    static std::expected<Expression, Fault> compile(std::string_view text,
                                                    const Options& options = {});

    /// Bindings are asked for a variable by its name alone, or by the longest static path that
    /// starts with it. Without circumstances the time is the system's and chance is chance.
    Answer evaluate(const std::optional<Value>& input, const Bindings& bindings,
                    const Budget& budget = {},
                    const std::optional<Circumstances>& circumstances = {}) const;

    /// What the bindings may be asked for: a variable, then the members behind it.
    const std::vector<std::vector<std::string>>& questions() const;
    /// Variables that must come from the bindings: the expression does not bind them itself.
    std::vector<std::string> free_variables() const;
    /// Whether it reads its input: by `$` or a name outside of any step, or by `$$`.
    bool reads_input() const;

private:
    explicit Expression(std::shared_ptr<const internal::Tree> tree) : tree_{std::move(tree)} {}

    std::shared_ptr<const internal::Tree> tree_;
};

/// Behind the common interface: the bindings are the variables, there is no input, and undefined
/// is a fault.
Compiled compile(std::string_view text, const CompileOptions& options);

} // namespace sluice::expr::jsonata

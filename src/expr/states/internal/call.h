#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/random.h"
#include "expr/states/internal/function.h"
#include "expr/states/internal/rooted_path.h"
#include "expr/states/sight.h"
#include "value/value.h"

namespace sluice::expr::states::internal {

/// A call of an intrinsic function: `States.Format('{} of {}', $.a, States.ArrayLength($.b))`.
class Call {
public:
    static std::expected<Call, std::string> compile(std::string_view text);

    std::expected<Value, Failure> evaluate(const Sight& sight, Random& chance) const;

    const std::string& text() const { return text_; }
    const std::vector<std::string>& variables() const { return variables_; }

private:
    friend class CallParser;

    struct Node;
    using Argument = std::variant<Value, RootedPath, std::unique_ptr<const Node>>;
    struct Node {
        const Function* function = nullptr;
        std::vector<Argument> arguments;
        /// Of `Format` with a literal text: what stands before, between and behind the places.
        std::vector<std::string> pieces;
    };
    /// What was complained of, and whether an argument was missing rather than wrong.
    struct Complaint {
        std::string message;
        bool is_missing = false;
    };
    using Outcome = std::expected<Value, Complaint>;

    static Outcome run(const Node& node, const Sight& sight, Random& chance);
    static Outcome run_format(const Node& node, const Sight& sight, Random& chance);
    static Outcome value_of(const Argument& argument, const Sight& sight, Random& chance);

    std::string text_;
    std::vector<std::string> variables_;
    std::shared_ptr<const Node> root_;
};

} // namespace sluice::expr::states::internal

#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "expr/states/sight.h"
#include "expr/states/template.h"
#include "value/value.h"

namespace sluice::expr::states {

/// The condition of one rule of a Choice state: comparisons of paths with And, Or, Not, or a
/// JSONata `Condition`.
class Condition {
public:
    /// `rule` is the whole rule; members that are not of the condition (Next, Assign, Output,
    /// Comment) are not looked at.
    static std::expected<Condition, std::vector<TemplateProblem>> compile(const Value& rule,
                                                                          Language language);

    /// A value of another type makes a comparison false; a path that finds nothing fails, but for
    /// `IsPresent`. `at` is the rule's place, by which failures name it: `Choices[0]/Condition`.
    std::expected<bool, Failure> holds(const Sight& sight, std::size_t at) const;

    /// Variables that it reads.
    const std::vector<std::string>& variables() const;
    /// As those of a template.
    const std::vector<std::string>& input_readers() const;

private:
    struct Plan;
    explicit Condition(std::shared_ptr<const Plan> plan);

    std::shared_ptr<const Plan> plan_;
};

} // namespace sluice::expr::states

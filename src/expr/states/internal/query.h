#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "expr/jsonata/expression.h"
#include "expr/states/sight.h"
#include "value/value.h"

namespace sluice::expr::states::internal {

/// A JSONata expression of a field, with the functions that the States Language adds.
class Query {
public:
    static std::expected<Query, std::string> compile(std::string_view text);

    /// What went wrong is the end of a sentence about it: "returned nothing (undefined)."
    std::expected<Value, std::string> evaluate(const Sight& sight, Random& chance) const;

    const std::string& text() const { return text_; }
    /// Variables that it reads, without `states`.
    std::vector<std::string> variables() const;
    /// Whether it reads `$`, `$$` or a name by itself, for which there is no value.
    bool reads_input() const { return expression_.reads_input(); }
    /// Whether it reads `$states.NAME`.
    bool reads_state(std::string_view name) const;

private:
    Query(std::string_view text, jsonata::Expression expression);

    std::string text_;
    jsonata::Expression expression_;
};

/// `$partition`, `$range`, `$hash`, `$random`, `$uuid`, `$parse`.
const std::vector<jsonata::NativeFunction>& added_functions();

} // namespace sluice::expr::states::internal

#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "expr/jsonpath/path.h"
#include "expr/states/sight.h"
#include "value/value.h"

namespace sluice::expr::states::internal {

/// A path and what it starts at: the data (`$.a`), the context object (`$$.a`) or a variable
/// (`$name.a`).
class RootedPath {
public:
    enum class Form : std::uint8_t { Any, Reference };

    static std::expected<RootedPath, std::string> compile(std::string_view text, Form form);

    /// Null when nothing is there. What it leads to is in what the sight shows, or in `made`.
    const Value* find(const Sight& sight, Value& made) const {
        const auto* root = root_of(sight);
        if (root == nullptr || is_plain_) {
            return root != nullptr ? path_.find(*root) : nullptr;
        }
        return read(*root, made);
    }
    /// Why nothing was found.
    std::string explain_missing(const Sight& sight) const;
    /// Whether it leads to a list and then to an item that the list does not have.
    bool ends_outside_a_list(const Sight& sight) const;
    /// The step that found nothing.
    std::string missing_step(const Sight& sight) const;
    bool is_in_context() const { return root_ == Root::Context; }

    const std::string& text() const { return text_; }
    /// The variable that it starts at; empty when it starts at something else.
    const std::string& variable() const { return variable_; }
    bool is_everything() const { return text_ == "$"; }

private:
    enum class Root : std::uint8_t { Data, Context, Variable };

    RootedPath(std::string_view text, Root root, std::string variable, jsonpath::Path path);

    const Value* root_of(const Sight& sight) const;
    const Value* read(const Value& root, Value& made) const;

    std::string text_;
    Root root_;
    bool is_plain_;
    std::string variable_;
    jsonpath::Path path_;
};

/// Letters, digits and `_`, no digit first, as Unicode's identifiers; at most 80 characters.
bool is_variable_name(std::string_view name);

} // namespace sluice::expr::states::internal

#include "expr/states/internal/rooted_path.h"

#include <utility>

#include <fmt/format.h>

#include "base/result.h"
#include "base/utf8.h"
#include "expr/jsonpath/reference_path.h"

namespace sluice::expr::states::internal {
namespace {

constexpr std::size_t variable_characters_max = 80;

/// Lists of a million items are mapped over; what multiplies still ends.
constexpr auto path_budget =
    Budget{.steps_max = 8'000'000, .output_bytes_max = 128UL * 1024 * 1024};

bool is_letter(std::uint32_t code) {
    return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || code == '_' ||
           code >= 0x80;
}

bool is_digit(std::uint32_t code) {
    return code >= '0' && code <= '9';
}

} // namespace

bool is_variable_name(std::string_view name) {
    auto count = std::size_t{0};
    while (!name.empty()) {
        auto [code, size] = decode_utf8(name);
        if (size == 0 || !(is_letter(code) || (count > 0 && is_digit(code)))) {
            return false;
        }
        name.remove_prefix(size);
        ++count;
    }
    return count > 0 && count <= variable_characters_max;
}

RootedPath::RootedPath(std::string_view text, Root root, std::string variable, jsonpath::Path path)
    : text_{text},
      root_{root},
      is_plain_{path.is_plain()},
      variable_{std::move(variable)},
      path_{std::move(path)} {}

std::expected<RootedPath, std::string> RootedPath::compile(std::string_view text, Form form) {
    if (!text.starts_with('$')) {
        return std::unexpected("a path starts with $");
    }
    auto root = Root::Data;
    auto rest = text.substr(1);
    auto variable = std::string{};
    if (rest.starts_with('$')) {
        root = Root::Context;
        rest.remove_prefix(1);
    } else if (!rest.empty() && rest.front() != '.' && rest.front() != '[') {
        root = Root::Variable;
        variable = rest.substr(0, rest.find_first_of(".["));
        if (!is_variable_name(variable)) {
            return std::unexpected(fmt::format("{} is no name of a variable", variable));
        }
        rest.remove_prefix(variable.size());
    }
    auto local = fmt::format("${}", rest);
    auto path = jsonpath::Path::compile(local, jsonpath::Dialect::Jayway);
    if (!path) {
        return std::unexpected(describe(path.error()));
    }
    if (form == Form::Reference) {
        if (auto reference = jsonpath::ReferencePath::compile(local); !reference) {
            return std::unexpected(reference.error().message);
        }
    }
    return RootedPath{text, root, std::move(variable), *std::move(path)};
}

const Value* RootedPath::root_of(const Sight& sight) const {
    switch (root_) {
        case Root::Data: return sight.data;
        case Root::Context: return sight.context != nullptr ? &sight.context->value() : nullptr;
        case Root::Variable:
            return sight.variables != nullptr ? sight.variables->find(variable_) : nullptr;
    }
    return nullptr;
}

const Value* RootedPath::read(const Value& root, Value& made) const {
    auto value = path_.read(root, path_budget);
    if (!value) {
        return nullptr;
    }
    made = *std::move(value);
    return &made;
}

bool RootedPath::ends_outside_a_list(const Sight& sight) const {
    const auto* root = root_of(sight);
    return root != nullptr && is_plain_ && path_.ends_outside_a_list(*root);
}

std::string RootedPath::missing_step(const Sight& sight) const {
    const auto* root = root_of(sight);
    return root != nullptr && is_plain_ ? path_.missing_step(*root) : text_;
}

std::string RootedPath::explain_missing(const Sight& sight) const {
    const auto* root = root_of(sight);
    if (root == nullptr) {
        return fmt::format("No results for path: {}", text_);
    }
    if (is_plain_) {
        return path_.explain_missing(*root);
    }
    auto value = path_.read(*root, path_budget);
    return value ? std::string{} : value.error().message;
}

} // namespace sluice::expr::states::internal

#include "workflow/asl/internal/read/variable_name.h"

#include <cstdint>

#include <fmt/format.h>

#include "base/utf8.h"

namespace sluice::workflow::asl::internal {

namespace {

constexpr auto variable_letters_max = std::size_t{80};

bool is_ascii_letter(std::uint32_t code) {
    return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || code == '_';
}

/// Letters of any script; of other characters beyond ASCII only those that are surely none.
bool may_stand_in_name(std::uint32_t code, bool is_first) {
    if (code < 0x80) {
        return is_ascii_letter(code) ||
               (!is_first && ((code >= '0' && code <= '9') || code == '-'));
    }
    auto is_control = code < 0xA0;
    auto is_punctuation = (code >= 0x2000 && code <= 0x206F) || (code >= 0x3000 && code <= 0x3004);
    return !is_control && code != 0xA0 && !is_punctuation;
}

} // namespace

std::string_view variable_of(std::string_view key, expr::states::Language language) {
    if (language == expr::states::Language::JsonPath && key.ends_with(".$")) {
        key.remove_suffix(2);
    }
    return key;
}

std::optional<std::string> fault_of_variable(std::string_view name) {
    if (name == "states") {
        return "The variable name 'states' is reserved; choose another one";
    }
    auto letters = std::size_t{0};
    for (auto at = std::size_t{0}; at < name.size(); ++letters) {
        auto [code, size] = decode_utf8(name.substr(at));
        if (size == 0 || !may_stand_in_name(code, at == 0)) {
            return fmt::format(
                "The variable name '{}' must be letters, digits and '_', and not "
                "begin with a digit",
                name);
        }
        at += size;
    }
    if (letters == 0 || letters > variable_letters_max) {
        return fmt::format("A variable name must have 1 to {} characters but has {}",
                           variable_letters_max, letters);
    }
    return std::nullopt;
}

} // namespace sluice::workflow::asl::internal

#include "expr/jsonata/internal/letter_case.h"

#include <clocale>
#include <cwctype>
#include <locale.h> // NOLINT(modernize-deprecated-headers): newlocale

#include "expr/jsonata/internal/text.h"

namespace sluice::expr::jsonata::internal {
namespace {

/// The C library's tables of Unicode, whatever locale the process has.
locale_t unicode() {
    static const auto locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return locale;
}

} // namespace

std::uint32_t to_upper(std::uint32_t code) {
    if (code < 128) {
        return code >= 'a' && code <= 'z' ? code - 32 : code;
    }
    return unicode() != nullptr ? static_cast<std::uint32_t>(towupper_l(code, unicode())) : code;
}

std::uint32_t to_lower(std::uint32_t code) {
    if (code < 128) {
        return code >= 'A' && code <= 'Z' ? code + 32 : code;
    }
    return unicode() != nullptr ? static_cast<std::uint32_t>(towlower_l(code, unicode())) : code;
}

std::string upper_text(std::string_view text) {
    auto out = std::string{};
    for (auto at = std::size_t{0}; at < text.size();) {
        auto [code, size] = character_at(text, at);
        if (code == 0xDF) {
            out += "SS";
        } else {
            append_code(to_upper(code), out);
        }
        at += size;
    }
    return out;
}

std::string lower_text(std::string_view text) {
    auto out = std::string{};
    for (auto at = std::size_t{0}; at < text.size();) {
        auto [code, size] = character_at(text, at);
        append_code(to_lower(code), out);
        at += size;
    }
    return out;
}

} // namespace sluice::expr::jsonata::internal

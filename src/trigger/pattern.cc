#include "trigger/pattern.h"

namespace sluice::trigger {

bool TextPattern::matches(std::string_view candidate) const {
    switch (kind) {
        case Kind::Any: return true;
        case Kind::Exact: return candidate == text;
        case Kind::Prefix: return candidate.starts_with(text);
    }
    return false;
}

Result<TextPattern> TextPattern::parse(std::string_view text) {
    if (text == "*") {
        return TextPattern{};
    }
    auto star = text.find('*');
    if (star == std::string_view::npos) {
        return TextPattern{.kind = Kind::Exact, .text = std::string{text}};
    }
    if (star + 1 != text.size()) {
        return fail(Errc::InvalidInput,
                    "found a '*' at byte {} of {}, expected one only at the end", star,
                    text.size());
    }
    return TextPattern{.kind = Kind::Prefix, .text = std::string{text.substr(0, star)}};
}

std::string TextPattern::to_text() const {
    switch (kind) {
        case Kind::Any: return "*";
        case Kind::Exact: return text;
        case Kind::Prefix: return text + "*";
    }
    return {};
}

bool Pattern::matches(std::string_view event_type, std::string_view event_subject) const {
    return type.matches(event_type) && subject.matches(event_subject);
}

} // namespace sluice::trigger

#include "event/internal/attribute.h"

#include <array>

#include "event/internal/attribute_rules.h"
#include "value/time_text.h"

namespace sluice::event::internal {

namespace {

// In the order of Attribute.
constexpr auto rules = std::array{
    Rule{"specversion", "\"1.0\""},
    Rule{"id", "a non-empty string", &Envelope::id},
    Rule{"source", "a non-empty URI reference", &Envelope::source},
    Rule{"type", "a non-empty string", &Envelope::type},
    Rule{"subject", "a non-empty string", &Envelope::subject},
    Rule{"time", "an RFC 3339 time such as 2026-11-15T05:57:30Z, from 1678 to 2261",
         &Envelope::time},
    Rule{"datacontenttype", "a media type such as application/json"},
    Rule{"dataschema", "an absolute URI"},
    Rule{"run", "a non-empty string", &Envelope::run},
    Rule{"scope", "a path of up to 32 non-empty segments such as resize/17", &Envelope::scope},
    Rule{"data", "a JSON value"},
    Rule{"data_base64", "base64 text"},
    Rule{"", "a string, a boolean or an integer of 32 bits"},
};
static_assert(rules.size() == static_cast<std::size_t>(Attribute::Extension) + 1);
static_assert(scope_segments_max == 32, "the rule of scope says so");

// A name known when compiling is compared without a call.
template <Attribute known>
Attribute known_or_extension(std::string_view name) {
    constexpr auto wanted = rules[static_cast<std::size_t>(known)].name;
    return name == wanted ? known : Attribute::Extension;
}

} // namespace

const Rule& rule_of(Attribute attribute) {
    return rules[static_cast<std::size_t>(attribute)];
}

Attribute attribute_named(std::string_view name) {
    switch (name.size()) {
        case 2: return known_or_extension<Attribute::Id>(name);
        case 3: return known_or_extension<Attribute::Run>(name);
        case 4:
            return name[0] == 'd'   ? known_or_extension<Attribute::Data>(name)
                   : name[1] == 'y' ? known_or_extension<Attribute::Type>(name)
                                    : known_or_extension<Attribute::Time>(name);
        case 5: return known_or_extension<Attribute::Scope>(name);
        case 6: return known_or_extension<Attribute::Source>(name);
        case 7: return known_or_extension<Attribute::Subject>(name);
        case 10: return known_or_extension<Attribute::Dataschema>(name);
        case 11:
            return name[0] == 'd' ? known_or_extension<Attribute::DataBase64>(name)
                                  : known_or_extension<Attribute::Specversion>(name);
        case 15: return known_or_extension<Attribute::Datacontenttype>(name);
        default: return Attribute::Extension;
    }
}

bool is_valid(Attribute attribute, std::string_view text) {
    switch (attribute) {
        case Attribute::Specversion: return text == "1.0";
        case Attribute::Source: return !text.empty() && classify_uri(text) != UriKind::Invalid;
        case Attribute::Time: return value::parse_time(text).has_value();
        case Attribute::Datacontenttype: return text == "application/json" || is_media_type(text);
        case Attribute::Dataschema: return classify_uri(text) == UriKind::Absolute;
        case Attribute::Scope: return is_scope(text);
        case Attribute::Extension: return true;
        default: return !text.empty();
    }
}

} // namespace sluice::event::internal

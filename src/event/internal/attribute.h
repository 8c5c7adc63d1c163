#pragma once

#include <cstdint>
#include <string_view>

#include "event/event.h"

namespace sluice::event::internal {

/// The members of an event's object that mean something to us; the rest are extensions.
enum class Attribute : std::uint8_t {
    Specversion,
    Id,
    Source,
    Type,
    Subject,
    Time,
    Datacontenttype,
    Dataschema,
    Run,
    Scope,
    Data,
    DataBase64,
    Extension,
};

/// What the event carries, rather than what is said of it.
constexpr bool is_payload(Attribute attribute) {
    return attribute == Attribute::Data || attribute == Attribute::DataBase64;
}

/// A set of attributes has a bit for each.
constexpr std::uint32_t bit(Attribute attribute) {
    return 1U << static_cast<unsigned>(attribute);
}

struct Rule {
    std::string_view name;
    std::string_view expected;                    ///< What its value has to be, for messages.
    std::string_view Envelope::* place = nullptr; ///< Where an event keeps it.
};

const Rule& rule_of(Attribute attribute);
Attribute attribute_named(std::string_view name);
/// Whether a text may be the value of the attribute; that its characters are allowed is checked
/// elsewhere.
bool is_valid(Attribute attribute, std::string_view text);

} // namespace sluice::event::internal

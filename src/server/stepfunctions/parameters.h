#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/stepfunctions/fault.h"

namespace sluice::server::stepfunctions {

/// A member that an operation takes.
struct Parameter {
    enum class Kind : std::uint8_t { Text, Flag, Number, List, Map };
    enum class Need : std::uint8_t { Optional, Required };

    std::string_view name;
    Kind kind = Kind::Text;
    Need need = Need::Optional;
    std::uint64_t least = 0; ///< Characters of a text, items of a list, or the number.
    std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    std::vector<std::string_view> choices{}; ///< Of a text; empty: any.
};

/// Every member that is there, is of its kind and within its bounds; those that are not named are
/// not looked at, as the service does. Fails with ValidationException that tells of all that is
/// wrong, or with SerializationException.
std::expected<void, Fault> check_parameters(const Value& body, std::span<const Parameter> known);

/// Members of a body that was checked; empty and nothing where there is none.
std::string text_in(const Value& body, std::string_view name);
std::optional<std::string> text_if(const Value& body, std::string_view name);
bool flag_in(const Value& body, std::string_view name, bool otherwise = false);
std::optional<std::int64_t> number_in(const Value& body, std::string_view name);
/// The member as it is; null without one.
Value value_in(const Value& body, std::string_view name);

/// Which part of a list is asked for.
struct Page {
    std::size_t most = 100;
    std::string after; ///< What the token holds; empty: from the beginning.

    /// Reads `maxResults` and `nextToken`. Fails with InvalidToken for one of another list.
    static std::expected<Page, Fault> read(const Value& body, std::string_view list);
};
/// What `nextToken` is for a page that begins behind this.
std::string page_token(std::string_view list, std::string_view after);

/// Seconds since 1970, as the service tells times.
Value seconds_of(Time time);

} // namespace sluice::server::stepfunctions

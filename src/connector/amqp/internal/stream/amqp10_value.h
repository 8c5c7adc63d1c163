#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::connector::amqp::internal::stream {

/// A value of AMQP 1.0: its format code (part 1.6) and its bytes, without their size where it has
/// one. A compound still has its count; a described value's bytes begin with the descriptor.
struct Amqp10Value {
    unsigned code = 0;
    std::string_view bytes;
};

inline constexpr auto described_code = 0x00U;
inline constexpr auto null_code = 0x40U;

/// Takes the value that the bytes begin with, leaving what follows it; nothing when they are cut
/// short or it is of no kind there is.
std::optional<Amqp10Value> take_value(std::string_view& bytes);

/// The elements of a list or a map with their count; nothing when it is neither.
struct Amqp10Elements {
    std::uint32_t count = 0;
    std::string_view bytes;
};
std::optional<Amqp10Elements> elements_of(const Amqp10Value& value);

/// A text or symbol; nothing when it is neither.
std::optional<std::string_view> text_in(const Amqp10Value& value);
std::optional<std::string_view> binary_in(const Amqp10Value& value);
/// As CloudEvents writes values of its types that are no texts; nothing for other types.
std::optional<std::string> canonical_text(const Amqp10Value& value);

} // namespace sluice::connector::amqp::internal::stream

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "value/value.h"

namespace sluice::expr::cel::runtime {

/// The kinds of values that an expression works with: those of Value and CEL's own.
enum class Kind : std::uint8_t {
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    List,
    Map,
    Timestamp,
    Duration,
    Type,
    Optional,
    Address, ///< An IP address.
    Network, ///< A range of them.
    Fault,
};

/// As `type()` shows it: `int`, `google.protobuf.Timestamp`.
std::string_view name_of(Kind kind);
/// The kind with this name; Fault when no type is named so.
Kind kind_named(std::string_view name);

/// Kinds as bits.
using KindSet = std::uint16_t;
constexpr KindSet only(Kind kind) {
    return static_cast<KindSet>(1U << static_cast<unsigned>(kind));
}
inline constexpr KindSet any_kind = 0x7fff;

struct Entry;
struct MapTable;
struct Interval;

/// Why there is no value.
struct FaultNote {
    static constexpr auto unplaced = static_cast<std::size_t>(-1);

    std::string_view code;
    std::string_view message;
    std::size_t position = unplaced;
};

struct Moment {
    std::int64_t seconds = 0;
    std::uint32_t nanos = 0; ///< Below a billion, forwards also before 1970.

    auto operator<=>(const Moment&) const = default;
};

/// A value at run time: a scalar, or a view of something that the evaluation's arena, the
/// program or the bindings keep. Copied freely, never freed; functions take and give it in
/// registers.
class Cell {
public:
    Cell() = default;
    static Cell boolean(bool truth) { return {Kind::Bool, {.truth = truth}}; }
    static Cell integer(std::int64_t number) { return {Kind::Int, {.number = number}}; }
    static Cell unsigned_integer(std::uint64_t number) {
        return {Kind::Uint, {.unsigned_number = number}};
    }
    static Cell real(double number) { return {Kind::Double, {.real = number}}; }
    static Cell string(std::string_view text) {
        return {Kind::String, {.text = text.data()}, text.size()};
    }
    static Cell bytes(std::string_view bytes) {
        return {Kind::Bytes, {.text = bytes.data()}, bytes.size()};
    }
    static Cell list(std::span<const Cell> items) {
        return {Kind::List, {.cells = items.data()}, items.size()};
    }
    static Cell map(const MapTable& table);
    static Cell timestamp(Moment moment) {
        return {Kind::Timestamp, {.number = moment.seconds}, moment.nanos};
    }
    static Cell duration(std::int64_t nanos) { return {Kind::Duration, {.number = nanos}}; }
    static Cell type(Kind kind) {
        return {Kind::Type, {.unsigned_number = static_cast<std::uint64_t>(kind)}};
    }
    /// Null: nothing is there.
    static Cell optional(const Cell* held) { return {Kind::Optional, {.cells = held}}; }
    static Cell network(Kind kind, const Interval& interval) {
        return {kind, {.interval = &interval}};
    }
    static Cell fault(FaultNote& note) { return {Kind::Fault, {.note = &note}}; }
    /// Looks into the value, which must stay where it is.
    static Cell view(const Value& value);

    Kind kind() const { return kind_; }
    bool is(Kind kind) const { return kind_ == kind; }
    bool is_fault() const { return kind_ == Kind::Fault; }
    bool is_number() const { return kind_ >= Kind::Int && kind_ <= Kind::Double; }
    bool is_true() const { return kind_ == Kind::Bool && payload_.truth; }
    bool is_false() const { return kind_ == Kind::Bool && !payload_.truth; }

    /// Each requires its kind.
    bool as_bool() const { return payload_.truth; }
    std::int64_t as_int() const { return payload_.number; }
    std::uint64_t as_uint() const { return payload_.unsigned_number; }
    double as_double() const { return payload_.real; }
    std::string_view text() const { return {payload_.text, size_}; } ///< String or Bytes.
    Moment as_timestamp() const { return {payload_.number, static_cast<std::uint32_t>(size_)}; }
    std::int64_t as_duration() const { return payload_.number; }
    Kind as_type() const { return static_cast<Kind>(payload_.unsigned_number); }
    const Cell* held() const { return payload_.cells; } ///< Of an optional.
    const Interval& interval() const { return *payload_.interval; }
    FaultNote& note() const { return *payload_.note; }

    /// Bytes of a text, items of a list, entries of a map.
    std::size_t size() const { return size_; }
    Cell item(std::size_t at) const;
    Entry entry(std::size_t at) const;
    /// The value under a key of any kind; null kind Fault without a note when there is none.
    bool find(const Cell& key, Cell& found) const;
    bool find(std::string_view key, Cell& found) const;

    /// What it looks into, when it is a list or map of the bindings; null otherwise.
    const Value* viewed() const { return is_viewed_ ? payload_.value : nullptr; }

private:
    union Payload {
        bool truth;
        std::int64_t number = 0;
        std::uint64_t unsigned_number;
        double real;
        const char* text;
        const Cell* cells;
        const MapTable* table;
        const Value* value;
        const Interval* interval;
        FaultNote* note;
    };

    Cell(Kind kind, Payload payload, std::size_t size = 0)
        : kind_{kind}, size_{size & size_max}, payload_{payload} {}

    static constexpr auto size_bits = 48;
    static constexpr auto size_max = (std::uint64_t{1} << size_bits) - 1;

    Kind kind_ = Kind::Null;
    bool is_viewed_ = false;
    std::uint64_t size_ : size_bits = 0; ///< The nanoseconds of a timestamp.
    Payload payload_;
};

static_assert(sizeof(Cell) == 16 && std::is_trivially_copyable_v<Cell>, "it fits two registers");

struct Entry {
    Cell key;
    Cell value;
};

/// An address, or a network of the addresses that begin like it.
struct Interval {
    unsigned char bytes[16] = {};
    std::uint8_t size = 4; ///< 4 or 16.
    std::uint8_t prefix_bits = 32;
};

/// A map that an expression made: entries in their order and, when there are many, places by hash.
struct MapTable {
    std::span<const Entry> entries;
    std::span<const std::uint32_t> slots; ///< Places plus one; a power of two of them, or none.

    const Entry* find(const Cell& key) const;
};

/// Whether a map may have such keys: int, uint, bool, string.
bool is_key(const Cell& cell);
/// Equal numbers of all kinds have one hash.
std::uint64_t hash_key(const Cell& key);
/// Equality of what may be a key, or a double.
bool are_keys_equal(const Cell& left, const Cell& right);

} // namespace sluice::expr::cel::runtime

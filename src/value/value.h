#pragma once

#include <bit>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/invariant.h"

namespace sluice::value {

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
};

std::string_view to_string(Kind kind);

struct Member;

/// The one dynamic value that events, contexts and expressions share.
///
/// Immutable, 16 bytes; copying shares what is large, so a value may be handed to other threads.
/// Texts of up to 14 bytes live inside. A map keeps the order in which its members were added.
class Value {
public:
    Value() = default;
    Value(const Value& other) noexcept {
        other.retain();
        write(other.read());
    }
    Value(Value&& other) noexcept { swap(other); }
    Value& operator=(const Value& other) noexcept {
        Value{other}.swap(*this);
        return *this;
    }
    Value& operator=(Value&& other) noexcept {
        Value{std::move(other)}.swap(*this);
        return *this;
    }
    ~Value() {
        if (is_shared()) {
            release();
        }
    }

    Value(bool truth) // NOLINT(google-explicit-constructor)
        : Value(Kind::Bool, truth) {}
    Value(int number) // NOLINT(google-explicit-constructor)
        : Value(Kind::Int, std::int64_t{number}) {}
    Value(std::int64_t number) // NOLINT(google-explicit-constructor)
        : Value(Kind::Int, number) {}
    Value(std::uint64_t number) // NOLINT(google-explicit-constructor): kind Uint.
        : Value(Kind::Uint, number) {}
    Value(double number) // NOLINT(google-explicit-constructor)
        : Value(Kind::Double, number) {}
    Value(std::string_view text);   // NOLINT(google-explicit-constructor)
    Value(const std::string& text); // NOLINT(google-explicit-constructor)
    Value(const char* text);        // NOLINT(google-explicit-constructor)
    Value(Time time);               // NOLINT(google-explicit-constructor)
    Value(Nanos duration);          // NOLINT(google-explicit-constructor)
    static Value bytes(std::string_view bytes);
    static Value list(std::vector<Value> items);
    /// Of members with the same key the last stands, at the place of the first.
    static Value map(std::vector<Member> members);
    /// `Value::object({{"a", 1}, {"b", "two"}})`
    static Value object(std::initializer_list<Member> members);

    Kind kind() const { return static_cast<Kind>(storage_[tag_at] & ~shared_bit); }
    bool is_null() const { return kind() == Kind::Null; }
    bool is_bool() const { return kind() == Kind::Bool; }
    bool is_int() const { return kind() == Kind::Int; }
    bool is_uint() const { return kind() == Kind::Uint; }
    bool is_double() const { return kind() == Kind::Double; }
    /// Int, Uint or Double.
    bool is_number() const;
    bool is_string() const { return kind() == Kind::String; }
    bool is_bytes() const { return kind() == Kind::Bytes; }
    bool is_list() const { return kind() == Kind::List; }
    bool is_map() const { return kind() == Kind::Map; }
    bool is_timestamp() const { return kind() == Kind::Timestamp; }
    bool is_duration() const { return kind() == Kind::Duration; }

    /// Each of these requires the kind it names: asking for another is a bug and stops the process.
    bool as_bool() const {
        INVARIANT(is_bool(), "only a bool can be read as one");
        return scalar<bool>();
    }
    std::int64_t as_int() const {
        INVARIANT(is_int(), "only an int can be read as one");
        return scalar<std::int64_t>();
    }
    std::uint64_t as_uint() const {
        INVARIANT(is_uint(), "only a uint can be read as one");
        return scalar<std::uint64_t>();
    }
    double as_double() const {
        INVARIANT(is_double(), "only a double can be read as one");
        return scalar<double>();
    }
    /// Valid as long as this Value (small texts live inside it).
    std::string_view as_string() const;
    std::string_view as_bytes() const;
    std::span<const Value> as_list() const;
    std::span<const Member> as_map() const;
    Time as_timestamp() const;
    Nanos as_duration() const;

    /// The member of a map; null when there is none or this is no map. Hashed for large maps.
    const Value* find(std::string_view key) const;
    /// Items of a list, members of a map, bytes of a text; 0 for the rest.
    std::size_t size() const;
    /// A map with this member set, the others as they are. An empty map if this is null.
    Value with(std::string_view key, Value member) const;
    /// A map without this member.
    Value without(std::string_view key) const;

    /// Equal in kind and content, whatever the order of a map's members: what `compare` calls
    /// equal. Numbers of different kinds differ, NaN equals NaN and 0.0 equals -0.0.
    bool operator==(const Value& other) const;

private:
    struct Heap; // A counted block: text, list or map. Defined in value.cc.

    static constexpr std::size_t small_bytes_max = 14;
    static constexpr std::size_t length_at = 14;
    static constexpr std::size_t tag_at = 15;
    static constexpr unsigned char shared_bit = 0x80;
    static constexpr unsigned length_shift = 48; ///< Both in the upper half of the whole.
    static constexpr unsigned tag_shift = 56;
    static_assert(std::endian::native == std::endian::little, "the tag is the last byte");

    /// Read and written whole: reading at once what was written in parts makes a processor wait.
    using Whole = std::uint64_t __attribute__((vector_size(16)));

    template <typename Scalar>
    Value(Kind kind, Scalar scalar) noexcept {
        static_assert(sizeof(Scalar) <= 8);
        auto low = std::uint64_t{0};
        std::memcpy(&low, &scalar, sizeof(scalar));
        write(Whole{low, std::uint64_t{static_cast<unsigned char>(kind)} << tag_shift});
    }
    template <typename Scalar>
    Scalar scalar() const {
        auto read = Scalar{};
        std::memcpy(&read, storage_, sizeof(read));
        return read;
    }
    Value(Kind kind, std::string_view bytes); ///< A text.
    static Value shared(Kind kind, Heap* heap);

    bool is_shared() const { return (storage_[tag_at] & shared_bit) != 0; }
    Heap* heap() const;
    std::string_view text_view() const;
    void retain() const noexcept {
        if (is_shared()) {
            add_reference();
        }
    }
    void add_reference() const noexcept;
    /// True when that was the last reference.
    bool drop_reference() noexcept;
    void release() noexcept;
    Whole read() const noexcept {
        auto whole = Whole{};
        std::memcpy(&whole, storage_, sizeof(storage_));
        return whole;
    }
    void write(Whole whole) noexcept { std::memcpy(storage_, &whole, sizeof(storage_)); }
    void swap(Value& other) noexcept {
        auto kept = read();
        write(other.read());
        other.write(kept);
    }

    // Small: 14 bytes of text, its length, the tag. Otherwise 8 bytes of number or pointer, the
    // tag. What is not used is zero. The tag is the kind, with `shared_bit` when the rest is a
    // pointer.
    alignas(8) unsigned char storage_[16] = {};
};

static_assert(sizeof(Value) == 16);

struct Member {
    std::string key;
    Value value;

    bool operator==(const Member&) const = default;
};

/// A total order: by kind (Null, Bool, numbers, String, Bytes, Timestamp, Duration, List, Map),
/// numbers of all kinds on one line compared exactly (equal ones then by kind; NaN before all
/// others), maps by their members in key order.
std::strong_ordering compare(const Value& left, const Value& right);

/// Equal values have equal hashes. Not stored.
std::uint64_t hash(const Value& value);

} // namespace sluice::value

namespace sluice {
using value::Value;
} // namespace sluice

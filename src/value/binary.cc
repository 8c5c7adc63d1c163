#include "value/binary.h"

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include <boost/container/small_vector.hpp>

// A value is one tag byte and what follows it; docs/formats/encoding.md has an example.
//
//   0  null
//   1  false
//   2  true
//   3  int        svarint
//   4  uint       varint
//   5  double     u64, the IEEE 754 bits
//   6  string     text
//   7  bytes      text
//   8  list       varint count, then that many values
//   9  map        varint count, then that many times: text key, value; the keys differ
//   10 timestamp  i64, nanoseconds since 1970-01-01T00:00:00Z
//   11 duration   svarint, nanoseconds
//
// Every value has exactly one encoding, and all other bytes are refused.

namespace sluice::value {

namespace {

enum class Tag : std::uint8_t {
    Null = 0,
    False = 1,
    True = 2,
    Int = 3,
    Uint = 4,
    Double = 5,
    String = 6,
    Bytes = 7,
    List = 8,
    Map = 9,
    Timestamp = 10,
    Duration = 11,
};

void put(Tag tag, Encoder& out) {
    out.u8(static_cast<std::uint8_t>(tag));
}

void put_text(Tag tag, std::string_view text, Encoder& out) {
    put(tag, out);
    out.text(text);
}

void put_signed(Tag tag, std::int64_t number, Encoder& out) {
    put(tag, out);
    out.svarint(number);
}

void encode_number(const Value& value, Encoder& out) {
    if (value.is_int()) {
        put_signed(Tag::Int, value.as_int(), out);
    } else if (value.is_uint()) {
        put(Tag::Uint, out);
        out.varint(value.as_uint());
    } else {
        put(Tag::Double, out);
        out.u64(std::bit_cast<std::uint64_t>(value.as_double()));
    }
}

// Of a list or map only tag and count: what it holds comes after.
void encode_head(const Value& value, Encoder& out) {
    switch (value.kind()) {
        case Kind::Null: put(Tag::Null, out); return;
        case Kind::Bool: put(value.as_bool() ? Tag::True : Tag::False, out); return;
        case Kind::Int:
        case Kind::Uint:
        case Kind::Double: encode_number(value, out); return;
        case Kind::String: put_text(Tag::String, value.as_string(), out); return;
        case Kind::Bytes: put_text(Tag::Bytes, value.as_bytes(), out); return;
        case Kind::List:
        case Kind::Map:
            put(value.is_list() ? Tag::List : Tag::Map, out);
            out.varint(value.size());
            return;
        case Kind::Timestamp:
            put(Tag::Timestamp, out);
            out.i64(value.as_timestamp().time_since_epoch().count());
            return;
        case Kind::Duration: put_signed(Tag::Duration, value.as_duration().count(), out); return;
    }
}

/// A list or map that is being written.
class Open {
public:
    explicit Open(const Value& container) {
        if (container.is_list()) {
            items_ = container.as_list();
        } else {
            members_ = container.as_map();
        }
    }

    /// The next value in it, its key already written; null at the end.
    const Value* next(Encoder& out) {
        if (at_ < members_.size()) {
            const auto& member = members_[at_++];
            out.text(member.key);
            return &member.value;
        }
        return at_ < items_.size() ? &items_[at_++] : nullptr;
    }

private:
    std::span<const Value> items_;
    std::span<const Member> members_;
    std::size_t at_ = 0;
};

/// Values are rarely nested deeper, and then this needs no memory of its own.
constexpr auto depth_usual = std::size_t{8};

Result<Value> decode_scalar(Tag tag, Decoder& in) {
    switch (tag) {
        case Tag::Null: return Value{};
        case Tag::False: return Value{false};
        case Tag::True: return Value{true};
        case Tag::Int: return Value{TRY(in.svarint())};
        case Tag::Uint: return Value{TRY(in.varint())};
        case Tag::Double: return Value{std::bit_cast<double>(TRY(in.u64()))};
        case Tag::String: return Value{TRY(in.text())};
        case Tag::Bytes: return Value::bytes(TRY(in.text()));
        case Tag::Timestamp: return Value{Time{Nanos{TRY(in.i64())}}};
        case Tag::Duration: return Value{Nanos{TRY(in.svarint())}};
        default: break;
    }
    return fail(Errc::Corrupt, "a value has the tag {}, expected at most {}", static_cast<int>(tag),
                static_cast<int>(Tag::Duration));
}

/// Reads without recursion. Memory grows with the bytes read alone, never with what they claim, so
/// the bytes bound the depth and whatever was written can be read.
class Reader {
public:
    explicit Reader(Decoder& in) : in_(in) {}

    Result<Value> read() {
        TRY(begin());
        while (!open_.empty()) {
            auto& top = open_.back();
            if (top.left == 0) {
                auto value = TRY(close(std::move(top)));
                open_.pop_back();
                deliver(std::move(value));
                continue;
            }
            --top.left;
            if (top.tag == Tag::Map) {
                top.members.push_back({std::string{TRY(in_.text())}, {}});
            }
            TRY(begin());
        }
        return std::move(result_);
    }

private:
    /// A list or map that is being read.
    struct Container {
        Tag tag;
        std::uint64_t left;
        std::vector<Value> items;
        std::vector<Member> members;
    };

    Result<void> begin() {
        auto tag = static_cast<Tag>(TRY(in_.u8()));
        if (tag != Tag::List && tag != Tag::Map) {
            deliver(TRY(decode_scalar(tag, in_)));
            return {};
        }
        auto count = TRY(in_.varint());
        if (count > in_.rest().size()) {
            return fail(Errc::Corrupt, "{} values are announced, {} bytes left", count,
                        in_.rest().size());
        }
        open_.push_back({.tag = tag, .left = count, .items = {}, .members = {}});
        return {};
    }

    static Result<Value> close(Container container) {
        if (container.tag == Tag::List) {
            return Value::list(std::move(container.items));
        }
        auto count = container.members.size();
        auto map = Value::map(std::move(container.members));
        if (map.size() != count) {
            return fail(Errc::Corrupt, "a map of {} members has {} different keys", count,
                        map.size());
        }
        return map;
    }

    void deliver(Value value) {
        if (open_.empty()) {
            result_ = std::move(value);
        } else if (open_.back().tag == Tag::List) {
            open_.back().items.push_back(std::move(value));
        } else {
            open_.back().members.back().value = std::move(value);
        }
    }

    Decoder& in_;
    std::vector<Container> open_;
    Value result_;
};

} // namespace

void encode(const Value& value, Encoder& out) {
    encode_head(value, out);
    if (!value.is_list() && !value.is_map()) {
        return;
    }
    auto open = boost::container::small_vector<Open, depth_usual>{};
    open.emplace_back(value);
    while (!open.empty()) {
        const auto* next = open.back().next(out);
        if (next == nullptr) {
            open.pop_back();
            continue;
        }
        encode_head(*next, out);
        if (next->is_list() || next->is_map()) {
            open.emplace_back(*next);
        }
    }
}

Result<Value> decode(Decoder& in) {
    return Reader{in}.read();
}

} // namespace sluice::value

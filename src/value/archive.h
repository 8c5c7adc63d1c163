#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/fingerprint.h"
#include "base/strong.h"
#include "value/binary.h"
#include "value/value.h"

namespace sluice::value {

/// Appends fields in the layouts of docs/formats/encoding.md.
///
/// A struct lists its fields once, for writing, reading and showing alike:
///
///     template <typename Archive>
///     void fields(Archive& archive) { archive("due", due)("name", name); }
///
/// The order of the fields is the stored format; a new field goes last and raises the format number
/// of the record.
class ArchiveWriter {
public:
    explicit ArchiveWriter(Encoder& out) : out_(out) {}

    template <typename T>
    ArchiveWriter& operator()(std::string_view /*name*/, const T& field) {
        write(field);
        return *this;
    }

    template <typename T>
    void write(const T& field) {
        if constexpr (std::is_same_v<T, bool>) {
            out_.u8(field ? 1 : 0);
        } else if constexpr (std::is_enum_v<T>) {
            out_.varint(static_cast<std::uint64_t>(field));
        } else if constexpr (std::unsigned_integral<T>) {
            out_.varint(field);
        } else if constexpr (std::signed_integral<T>) {
            out_.svarint(field);
        } else if constexpr (std::is_same_v<T, std::string>) {
            out_.text(field);
        } else if constexpr (std::is_same_v<T, Value>) {
            encode(field, out_);
        } else {
            write_compound(field);
        }
    }

private:
    void write_compound(const Time& time) { out_.svarint(time.time_since_epoch().count()); }
    void write_compound(const Nanos& duration) { out_.svarint(duration.count()); }
    void write_compound(const Fingerprint& print) {
        out_.u64(print.high);
        out_.u64(print.low);
    }
    template <typename Tag, typename Rep>
    void write_compound(const Strong<Tag, Rep>& id) {
        write(id.raw());
    }
    template <typename T>
    void write_compound(const std::optional<T>& maybe) {
        out_.u8(maybe ? 1 : 0);
        if (maybe) {
            write(*maybe);
        }
    }
    template <typename T>
    void write_compound(const std::vector<T>& items) {
        out_.varint(items.size());
        for (const auto& item : items) {
            write(item);
        }
    }
    template <typename T>
        requires requires(T item, ArchiveWriter& archive) { item.fields(archive); }
    void write_compound(const T& item) {
        // `fields` is one function for reading and writing; a writer changes nothing.
        const_cast<T&>(item).fields(*this);
    }

    Encoder& out_;
};

/// Reads what an ArchiveWriter wrote. The first failure stands; what follows is left as it was.
class ArchiveReader {
public:
    explicit ArchiveReader(Decoder& in) : in_(in) {}

    template <typename T>
    ArchiveReader& operator()(std::string_view /*name*/, T& field) {
        read(field);
        return *this;
    }

    template <typename T>
    void read(T& field) {
        if (error_) {
            return;
        }
        if constexpr (std::is_same_v<T, bool>) {
            take(in_.u8(), [&](auto raw) {
                field = raw != 0;
                refuse_unless(raw <= 1, raw);
            });
        } else if constexpr (std::is_enum_v<T>) {
            auto number = std::underlying_type_t<T>{};
            read(number);
            field = static_cast<T>(number);
        } else if constexpr (std::unsigned_integral<T>) {
            take(in_.varint(), [&](auto raw) {
                field = static_cast<T>(raw);
                refuse_unless(std::in_range<T>(raw), raw);
            });
        } else if constexpr (std::signed_integral<T>) {
            take(in_.svarint(), [&](auto raw) {
                field = static_cast<T>(raw);
                refuse_unless(std::in_range<T>(raw), raw);
            });
        } else if constexpr (std::is_same_v<T, std::string>) {
            take(in_.text(), [&](auto raw) { field = std::string{raw}; });
        } else if constexpr (std::is_same_v<T, Value>) {
            take(decode(in_), [&](auto raw) { field = std::move(raw); });
        } else {
            read_compound(field);
        }
    }

    Result<void> status() const {
        if (error_) {
            return std::unexpected(*error_);
        }
        return {};
    }

private:
    template <typename R, typename Use>
    void take(R&& result, Use use) {
        if (result) {
            use(*std::forward<R>(result));
        } else {
            error_ = result.error();
        }
    }
    void refuse_unless(bool fits, auto raw) {
        if (!fits) {
            error_ = Error{Errc::Corrupt, fmt::format("{} does not fit its field", raw)};
        }
    }
    void read_compound(Time& time) {
        auto count = std::int64_t{0};
        read(count);
        time = Time{Nanos{count}};
    }
    void read_compound(Nanos& duration) {
        auto count = std::int64_t{0};
        read(count);
        duration = Nanos{count};
    }
    void read_compound(Fingerprint& print) {
        take(in_.u64(), [&](auto raw) { print.high = raw; });
        take(in_.u64(), [&](auto raw) { print.low = raw; });
    }
    template <typename Tag, typename Rep>
    void read_compound(Strong<Tag, Rep>& id) {
        auto raw = Rep{};
        read(raw);
        id = Strong<Tag, Rep>{std::move(raw)};
    }
    template <typename T>
    void read_compound(std::optional<T>& maybe) {
        auto is_there = false;
        read(is_there);
        maybe.reset();
        if (is_there && !error_) {
            read(maybe.emplace());
        }
    }
    template <typename T>
    void read_compound(std::vector<T>& items) {
        auto size = std::uint64_t{0};
        read(size);
        items.clear();
        // Grown item by item: a damaged size fails at the end of the bytes, not by asking for
        // memory.
        for (auto at = std::uint64_t{0}; at < size && !error_; ++at) {
            read(items.emplace_back());
        }
    }
    template <typename T>
        requires requires(T item, ArchiveReader& archive) { item.fields(archive); }
    void read_compound(T& item) {
        item.fields(*this);
    }

    Decoder& in_;
    std::optional<Error> error_;
};

/// Shows fields as a map, for people: names as the struct gives them.
class ArchiveView {
public:
    template <typename T>
    ArchiveView& operator()(std::string_view name, const T& field) {
        if constexpr (requires { field.has_value(); }) {
            if (!field) {
                return *this;
            }
        }
        members_.push_back({std::string{name}, view(field)});
        return *this;
    }

    Value value() && { return Value::map(std::move(members_)); }

    template <typename T>
    static Value view(const T& field) {
        if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string> ||
                      std::is_same_v<T, Value> || std::is_same_v<T, Time> ||
                      std::is_same_v<T, Nanos>) {
            return Value{field};
        } else if constexpr (requires { to_string(field); }) {
            return Value{std::string_view{to_string(field)}};
        } else if constexpr (std::is_enum_v<T> || std::integral<T>) {
            return Value{static_cast<std::int64_t>(field)};
        } else if constexpr (requires { field.raw(); }) {
            return view(field.raw());
        } else if constexpr (requires { field.has_value(); }) {
            return field ? view(*field) : Value{};
        } else if constexpr (requires { field.begin(); }) {
            auto items = std::vector<Value>{};
            for (const auto& item : field) {
                items.push_back(view(item));
            }
            return Value::list(std::move(items));
        } else if constexpr (std::is_same_v<T, Fingerprint>) {
            return Value{fmt::format("{:016x}{:016x}", field.high, field.low)};
        } else {
            auto nested = ArchiveView{};
            const_cast<T&>(field).fields(nested);
            return std::move(nested).value();
        }
    }

private:
    std::vector<Member> members_;
};

/// The bytes of a listed struct.
template <typename T>
void encode_fields(const T& item, Encoder& out) {
    ArchiveWriter{out}.write(item);
}

template <typename T>
Result<T> decode_fields(Decoder& in) {
    auto item = T{};
    auto reader = ArchiveReader{in};
    reader.read(item);
    TRY(reader.status());
    return item;
}

} // namespace sluice::value

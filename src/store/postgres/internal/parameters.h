#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"

namespace sluice::store::postgres {

/// Types as PostgreSQL numbers them (pg_type.dat); fixed for good.
enum class Type : std::uint32_t { Bytea = 17, Int8 = 20, Int4 = 23, Text = 25 };

inline std::string int4(std::int32_t number) {
    auto bytes = std::string{};
    Encoder{bytes}.u32(static_cast<std::uint32_t>(number));
    return bytes;
}

inline std::string int8(std::int64_t number) {
    auto bytes = std::string{};
    Encoder{bytes}.u64(static_cast<std::uint64_t>(number));
    return bytes;
}

/// A one-dimensional array in PostgreSQL's binary form (array_recv).
class ArrayParameter {
public:
    ArrayParameter(Type element, std::size_t count, std::size_t bytes_each = 8) {
        bytes_.reserve(20 + count * (4 + bytes_each));
        auto out = Encoder{bytes_};
        out.u32(count == 0 ? 0 : 1); // Dimensions.
        out.u32(0);                  // No nulls.
        out.u32(static_cast<std::uint32_t>(element));
        if (count != 0) {
            out.u32(static_cast<std::uint32_t>(count));
            out.u32(1); // The number of the first element.
        }
    }

    void add(std::string_view element) {
        Encoder{bytes_}.u32(static_cast<std::uint32_t>(element.size()));
        bytes_.append(element);
    }
    void add_int4(std::uint32_t number) {
        auto out = Encoder{bytes_};
        out.u32(4);
        out.u32(number);
    }
    void add_int8(std::uint64_t number) {
        auto out = Encoder{bytes_};
        out.u32(8);
        out.u64(number);
    }

    std::string_view bytes() const { return bytes_; }
    std::string take() && { return std::move(bytes_); }

private:
    std::string bytes_;
};

} // namespace sluice::store::postgres

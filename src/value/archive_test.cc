#include "value/archive.h"

#include <gtest/gtest.h>

namespace sluice::value {
namespace {

enum class Size : std::uint8_t { Small, Large };

template <typename T>
struct One {
    T field{};

    template <typename Archive>
    void fields(Archive& archive) {
        archive("field", field);
    }
};

template <typename To, typename From>
Result<One<To>> read_as(From number) {
    auto bytes = std::string{};
    auto out = Encoder{bytes};
    encode_fields(One<From>{number}, out);
    auto in = Decoder{bytes};
    return decode_fields<One<To>>(in);
}

TEST(Archive, ReadsTheLargestNumberOfEachField) {
    EXPECT_EQ(read_as<std::uint8_t>(std::uint64_t{255})->field, 255);
    EXPECT_EQ(read_as<std::uint32_t>(std::uint64_t{0xFFFF'FFFF})->field, 0xFFFF'FFFFU);
    EXPECT_EQ(read_as<std::int32_t>(std::int64_t{-2'147'483'648})->field, -2'147'483'648);
    EXPECT_EQ(read_as<Size>(std::uint64_t{1})->field, Size::Large);
}

TEST(Archive, RefusesNumbersThatDoNotFitTheirField) {
    EXPECT_EQ(read_as<std::uint8_t>(std::uint64_t{256}).error().code, Errc::Corrupt);
    EXPECT_EQ(read_as<std::uint32_t>(std::uint64_t{1} << 32U).error().code, Errc::Corrupt);
    EXPECT_EQ(read_as<std::int32_t>(std::int64_t{1} << 31U).error().code, Errc::Corrupt);
    EXPECT_EQ(read_as<Size>(std::uint64_t{256}).error().code, Errc::Corrupt);
    EXPECT_EQ(read_as<bool>(std::uint64_t{2}).error().code, Errc::Corrupt);
    using Id = Strong<struct IdTag, std::uint32_t>;
    EXPECT_EQ(read_as<Id>(std::uint64_t{1} << 40U).error().code, Errc::Corrupt);
}

} // namespace
} // namespace sluice::value

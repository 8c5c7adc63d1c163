#include "event/internal/skimmer.h"

#include <cstring>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "event/internal/lookup.h"
#include "value/json.h"

namespace sluice::event::internal {
namespace {

/// A copy with nothing behind it, so that the sanitizer sees a read past the end.
class Exact {
public:
    explicit Exact(std::string_view text)
        : size_{text.size()}, bytes_{std::make_unique<char[]>(text.size())} {
        std::memcpy(bytes_.get(), text.data(), size_);
    }
    std::string_view view() const { return {bytes_.get(), size_}; }

private:
    std::size_t size_;
    std::unique_ptr<char[]> bytes_;
};

std::string_view scanned(std::string_view text) {
    auto scanner = Scanner{text};
    EXPECT_TRUE(scanner.skip_value(depth_max_hard)) << text;
    return text.substr(0, scanner.offset());
}

TEST(Skimmer, PassesAValueAsTheScannerDoes) {
    for (std::string value :
         {"1", "-0.5e3", "true", "null", R"("")", R"("a\"b")", R"("\\")", "[]", "{}",
          R"([1,"]",[[]],{"a":"}"}])", R"({"a\"}":[{"b\\":"\\\"]"}],"c":"é{"})",
          R"(["\\\\\"[","\u005b",{"":{}}])"}) {
        for (const auto* behind : {"", ",1", "}", " ]"}) {
            auto text = Exact{value + behind};

            EXPECT_EQ(Skimmer{text.view()}.pass_value(), scanned(text.view())) << text.view();
        }
    }
}

TEST(Skimmer, FollowsStringsAndEscapesFromBlockToBlock) {
    for (auto filler : {'n', '\\', ','}) {
        for (auto size = std::size_t{0}; size < 150; ++size) {
            auto filled = std::string(filler == '\\' ? size * 2 : size, filler);
            auto text = Exact{R"({"a":")" + filled + R"(\"]}","b":["}",[)" + "]]}" + ",1}"};

            EXPECT_EQ(Skimmer{text.view()}.pass_value(), scanned(text.view())) << text.view();
        }
    }
}

TEST(Skimmer, GoesThroughMembersWithSpaceAround) {
    auto text = Exact{" { \"a\" : [ 1 , 2 ] , \"b\\n\" : null , \"\" : \"x\" } "};
    auto skimmer = Skimmer{text.view().substr(1)};
    auto seen = std::string{};
    auto storage = std::string{};
    auto name = Scanner::String{};

    while (skimmer.next_member(name)) {
        seen += std::string{text_of(name, storage)} + "=" + std::string{skimmer.pass_value()} + ";";
    }

    EXPECT_EQ(seen, "a=[ 1 , 2 ];b\n=null;=\"x\";");
}

TEST(Skimmer, StaysWithinATextThatEndsTooEarly) {
    auto whole = std::string{R"({"a":[1,{"b":"c\"\\"}],"d\u0061":"e","f":-1.5,"g":true})"};
    for (auto size = std::size_t{0}; size <= whole.size(); ++size) {
        auto text = Exact{std::string_view{whole}.substr(0, size)};
        auto name = Scanner::String{};
        auto passed = std::size_t{0};

        for (auto skimmer = Skimmer{text.view()}; skimmer.next_member(name);) {
            passed += skimmer.pass_value().size();
        }

        EXPECT_LE(passed, size);
        EXPECT_LE(Skimmer{text.view()}.pass_value().size(), size);
    }
}

} // namespace
} // namespace sluice::event::internal

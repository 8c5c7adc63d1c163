#include "event/filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "event/builder.h"
#include "value/json.h"

namespace sluice::event {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

Filter filter_of(std::string_view json) {
    auto filter = Filter::parse(value::parse_json(json).value());
    EXPECT_TRUE(filter) << filter.error().message;
    return filter ? *filter : Filter{};
}

std::string mistake_in(std::string_view json) {
    auto filter = Filter::parse(value::parse_json(json).value());
    return filter ? "none" : filter.error().message;
}

const auto paid = Builder{"7", "/shop/eu", "order.paid"}
                      .subject("orders/17")
                      .attribute("priority", 5)
                      .attribute("urgent", true)
                      .build();

TEST(Filter, ComparesAttributesAsTexts) {
    EXPECT_TRUE(
        filter_of(R"({"exact": {"type": "order.paid", "source": "/shop/eu"}})").matches(paid));
    EXPECT_FALSE(
        filter_of(R"({"exact": {"type": "order.paid", "source": "/shop"}})").matches(paid));
    EXPECT_FALSE(filter_of(R"({"exact": {"type": "Order.paid"}})").matches(paid));
    EXPECT_TRUE(filter_of(R"({"prefix": {"type": "order."}})").matches(paid));
    EXPECT_TRUE(filter_of(R"({"suffix": {"subject": "/17", "id": "7"}})").matches(paid));
    EXPECT_TRUE(filter_of(R"({"exact": {"priority": "5", "urgent": "true"}})").matches(paid));
    EXPECT_TRUE(filter_of(R"({"exact": {"specversion": "1.0"}})").matches(paid));
}

TEST(Filter, DoesNotMatchWhatTheEventLacks) {
    auto bare = Builder{"1", "/s", "t"}.build();
    EXPECT_FALSE(filter_of(R"({"prefix": {"colour": "r"}})").matches(bare));
    EXPECT_FALSE(filter_of(R"({"exact": {"subject": "x"}})").matches(bare));
    EXPECT_TRUE(filter_of(R"({"not": {"exact": {"subject": "x"}}})").matches(bare));
}

TEST(Filter, PutsFiltersTogether) {
    auto type = std::string{R"({"exact": {"type": "order.paid"}})"};
    auto other = std::string{R"({"exact": {"type": "other"}})"};
    EXPECT_FALSE(filter_of(R"({"all": [)" + type + "," + other + "]}").matches(paid));
    EXPECT_TRUE(filter_of(R"({"any": [)" + other + "," + type + "]}").matches(paid));
    EXPECT_FALSE(filter_of(R"({"not": )" + type + "}").matches(paid));
    EXPECT_FALSE(filter_of("[" + type + "," + other + "]").matches(paid));
    EXPECT_TRUE(filter_of("[]").matches(paid));
    EXPECT_TRUE(filter_of("{}").matches(paid));
}

TEST(Filter, TellsWhichTypesItCanMatch) {
    EXPECT_THAT(filter_of(R"({"exact": {"type": "a"}})").values_of("type"),
                Optional(ElementsAre("a")));
    EXPECT_THAT(filter_of(R"({"any": [{"exact": {"type": "b"}}, {"exact": {"type": "a"}},
                                      {"exact": {"type": "b"}}]})")
                    .values_of("type"),
                Optional(ElementsAre("a", "b")));
    EXPECT_THAT(
        filter_of(R"([{"prefix": {"subject": "x"}}, {"exact": {"type": "a"}}])").values_of("type"),
        Optional(ElementsAre("a")));
    EXPECT_FALSE(filter_of(R"({"any": [{"exact": {"type": "b"}}, {"prefix": {"type": "a"}}]})")
                     .values_of("type"));
    EXPECT_FALSE(filter_of(R"({"not": {"exact": {"type": "a"}}})").values_of("type"));
    EXPECT_FALSE(Filter{}.values_of("type"));
}

TEST(Filter, SaysWhatIsWrongAndWhere) {
    EXPECT_THAT(mistake_in("7"), HasSubstr("expected a map with one dialect"));
    EXPECT_THAT(mistake_in(R"({"exact": {"type": "a"}, "prefix": {"type": "a"}})"),
                HasSubstr("several filters are a list"));
    EXPECT_THAT(mistake_in(R"({"exact": {}})"), HasSubstr("filter.exact: expected attributes"));
    EXPECT_THAT(mistake_in(R"({"exact": {"type": ""}})"), HasSubstr("filter.exact.type"));
    EXPECT_THAT(mistake_in(R"({"exact": {"type": 7}})"), HasSubstr("expected a text"));
    EXPECT_THAT(mistake_in(R"({"exact": {"data": "x"}})"), HasSubstr("data is none"));
    EXPECT_THAT(mistake_in(R"({"any": [{"exact": {"type": "a"}}, {"like": 1}]})"),
                HasSubstr("filter.any[1].like: there is no such dialect"));
    EXPECT_THAT(mistake_in(R"({"any": []})"), HasSubstr("at least one"));
    EXPECT_THAT(mistake_in(R"({"sql": "type = 'a'"})"), HasSubstr("there is no such dialect"));
}

TEST(Filter, IsBoundedInDepth) {
    auto json = std::string{R"({"exact": {"type": "a"}})"};
    for (auto depth = 0; depth < 40; ++depth) {
        json = R"({"not": )" + json + "}";
    }
    EXPECT_THAT(mistake_in(json), HasSubstr("at most"));
}

TEST(Filter, TakesFurtherDialects) {
    class Never final : public Predicate {
    public:
        bool matches(const Event&) const override { return false; }
    };
    auto dialects = Dialects{{"cel", [](const Value&) -> Result<std::shared_ptr<const Predicate>> {
                                  return std::make_shared<Never>();
                              }}};
    auto filter =
        Filter::parse(value::parse_json(R"({"not": {"cel": "false"}})").value(), dialects);
    ASSERT_TRUE(filter);
    EXPECT_TRUE(filter->matches(paid));
}

} // namespace
} // namespace sluice::event

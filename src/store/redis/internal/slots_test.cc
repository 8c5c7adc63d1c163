#include "store/redis/internal/slots.h"

#include <gtest/gtest.h>

#include "resp/parser.h"
#include "store/redis/testing/redis_cluster.h"

namespace sluice::store::redis::internal {
namespace {

Result<SlotMap> parsed(std::string_view text) {
    auto parser = resp::Parser{};
    EXPECT_TRUE(parser.feed(text));
    return SlotMap::parse(parser.reply(text), "asked");
}

TEST(Slots, AreTheCrcOfTheKey) {
    EXPECT_EQ(slot_of("123456789"), 0x31C3);
    EXPECT_EQ(slot_of(""), 0);
    EXPECT_EQ(slot_of("foo"), 12182);
}

TEST(Slots, AreOfWhatStandsInTheFirstBraces) {
    EXPECT_EQ(slot_of("{foo}:keys"), slot_of("foo"));
    EXPECT_EQ(slot_of("a{foo}b{bar}"), slot_of("foo"));
    EXPECT_EQ(slot_of("foo{{bar}}zap"), slot_of("{bar"));
    EXPECT_NE(slot_of("foo{}{bar}"), slot_of("bar"));
    EXPECT_NE(slot_of("{}foo"), slot_of("foo"));
    EXPECT_NE(slot_of("foo{bar"), slot_of("bar"));
}

TEST(Slots, AreThoseOfTheServer) {
    auto* cluster = testing::shared_cluster();
    if (cluster == nullptr) {
        GTEST_SKIP() << "redis-server is not installed";
    }
    for (const auto* key : {"", "a", "{}", "{}foo", "foo{}{bar}", "foo{bar", "foo}bar{", "{{}}x",
                            "a{b}{c}", "{store:17}:values", "{p:catalog}:keys", "\xFF{\x80}"}) {
        EXPECT_EQ(std::to_string(slot_of(key)), cluster->tell(0, "CLUSTER", "KEYSLOT", key)) << key;
    }
}

TEST(Redirect, SaysWhereASlotIs) {
    auto moved = redirect_in("MOVED 3999 127.0.0.1:6381");
    ASSERT_TRUE(moved);
    EXPECT_EQ(moved->kind, Redirect::Kind::Moved);
    EXPECT_EQ(moved->slot, 3999);
    EXPECT_EQ(moved->to, (Address{"127.0.0.1", 6381}));
    auto ask = redirect_in("ASK 0 ::1:6381");
    ASSERT_TRUE(ask);
    EXPECT_EQ(ask->kind, Redirect::Kind::Ask);
    EXPECT_EQ(ask->to, (Address{"::1", 6381}));
    EXPECT_EQ(redirect_in("MOVED 1 :6381")->to, (Address{"", 6381}));
}

TEST(Redirect, IsNoOtherError) {
    for (auto text :
         {"", "MOVED", "MOVED ", "MOVED 1", "MOVED 16384 a:1", "MOVED -1 a:1", "MOVED 1 a",
          "MOVED 1 a:0", "MOVED 1 a:65536", "ASKING 1 a:1", "ERR MOVED 1 a:1", "TRYAGAIN later"}) {
        EXPECT_FALSE(redirect_in(text)) << text;
    }
}

TEST(SlotMap, KnowsWhoHasWhat) {
    auto map = parsed(
        "*2\r\n"
        "*4\r\n:0\r\n:99\r\n*2\r\n$1\r\na\r\n:1\r\n*2\r\n$1\r\nr\r\n:9\r\n"
        "*3\r\n:200\r\n:200\r\n*2\r\n$0\r\n\r\n:2\r\n");
    ASSERT_TRUE(map) << map.error().message;
    EXPECT_EQ(*map->owner_of(0), (Address{"a", 1}));
    EXPECT_EQ(*map->owner_of(99), (Address{"a", 1}));
    EXPECT_EQ(map->owner_of(100), nullptr);
    EXPECT_EQ(*map->owner_of(200), (Address{"asked", 2}));
    EXPECT_EQ(map->nodes().size(), 2);

    map->move(100, {"b", 3});
    EXPECT_EQ(*map->owner_of(100), (Address{"b", 3}));
    EXPECT_EQ(map->owner_of(slot_count), nullptr);
}

TEST(SlotMap, RefusesWhatIsNone) {
    EXPECT_EQ(parsed("*1\r\n*3\r\n:5\r\n:4\r\n*2\r\n$1\r\na\r\n:1\r\n").error().code,
              Errc::Corrupt);
    EXPECT_FALSE(parsed("*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\na\r\n:1\r\n"));
    EXPECT_FALSE(parsed("*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\na\r\n:0\r\n"));
    EXPECT_FALSE(parsed("*1\r\n$1\r\na\r\n"));
}

} // namespace
} // namespace sluice::store::redis::internal

#include "store/postgres/options.h"

#include <gtest/gtest.h>

namespace sluice::store::postgres {
namespace {

using namespace std::chrono_literals;

std::string refusal(std::string_view url) {
    auto options = Options::parse(url);
    return options ? "taken" : options.error().message;
}

TEST(PostgresOptions, ComeFromAUrl) {
    auto options = Options::parse(
        "postgres://me:s%40cret@db.example:5433/flows?schema=eu_1&"
        "sslmode=require&patience=90&timeout=1500ms&readers=2&"
        "durability=relaxed&shards=16");

    ASSERT_TRUE(options) << options.error().message;
    EXPECT_EQ(options->parameter("user"), "me");
    EXPECT_EQ(options->parameter("password"), "s@cret");
    EXPECT_EQ(options->parameter("sslmode"), "require");
    EXPECT_EQ(options->parameter("schema"), "");
    EXPECT_EQ(options->schema, "eu_1");
    EXPECT_EQ(options->patience, 90s);
    EXPECT_EQ(options->timeout, 1500ms);
    EXPECT_EQ(options->readers, 2);
    EXPECT_EQ(options->durability, Durability::Relaxed);
    EXPECT_EQ(options->shard_count, 16);
    EXPECT_EQ(options->where(), "db.example:5433/flows");
}

TEST(PostgresOptions, HaveDefaults) {
    auto options = Options::parse("postgresql://localhost");

    ASSERT_TRUE(options);
    EXPECT_EQ(options->schema, "sluice");
    EXPECT_EQ(options->patience, 60s);
}

TEST(PostgresOptions, TakeSeveralHosts) {
    auto options = Options::parse("postgres://a:1,b:2/d?target_session_attrs=read-write");

    ASSERT_TRUE(options);
    EXPECT_EQ(options->parameter("host"), "a,b");
    EXPECT_EQ(options->parameter("port"), "1,2");
}

TEST(PostgresOptions, RefuseUnknownParametersAndNameTheNearest) {
    EXPECT_EQ(refusal("postgres://h/d?shema=x"),
              "a postgres URL has no parameter shema (did you mean schema?): there are schema, "
              "durability, shards, patience, timeout, readers and those of libpq");
    EXPECT_NE(refusal("postgres://h/d?sslmoed=x").find("sslmode"), std::string::npos);
}

TEST(PostgresOptions, RefuseValuesOutOfRange) {
    for (auto url :
         {"postgres://h?patience=0", "postgres://h?patience=", "postgres://h?patience=x",
          "postgres://h?timeout=99999999", "postgres://h?readers=0", "postgres://h?shards=65535",
          "postgres://h?durability=memory", "postgres://h?readers=99999999999999999999",
          "postgres://h?schema=", "postgres://h?schema=a\"b", "postgres://h?schema=pg_x",
          "redis://h", "postgres:/h", "postgres://h:99x/d", "postgres://h/%zz"}) {
        EXPECT_NE(refusal(url), "taken") << url;
    }
}

TEST(PostgresOptions, NeverRepeatAPassword) {
    for (auto url : {"postgres://me:top@secret@h/d", "postgres://me:top/secret@h/d",
                     "postgres://me:top:secret@h:x/d", "postgres://me:%zzsecret@h/d",
                     "postgres://me:secret@h/d?x=1", "postgres://me:secret@[h/d",
                     "postgres://me:secret@h/d?patience=0"}) {
        auto said = refusal(url);
        EXPECT_NE(said, "taken") << url;
        EXPECT_EQ(said.find("secret"), std::string::npos) << said;
        EXPECT_EQ(said.find("top"), std::string::npos) << said;
    }
}

} // namespace
} // namespace sluice::store::postgres

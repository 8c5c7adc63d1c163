#include "server/stepfunctions/arn.h"

#include <gtest/gtest.h>

namespace sluice::server::stepfunctions {
namespace {

TEST(Arn, TellsWhatItNames) {
    auto arns = ArnMaker{};

    auto version = Arn::parse(arns.machine("orders", "12")).value();
    EXPECT_EQ(version.kind, Arn::Kind::StateMachine);
    EXPECT_EQ(version.name, "orders");
    EXPECT_EQ(version.version(), 12U);
    EXPECT_EQ(Arn::parse(arns.machine("orders", "PROD"))->version(), std::nullopt);
    auto express = Arn::parse(arns.express("orders", "one", "u")).value();
    EXPECT_EQ(express.qualifier, "one");
    EXPECT_EQ(express.unique, "u");
    auto map = Arn::parse(arns.map_run("orders", "Each", "7")).value();
    EXPECT_EQ(map.label, "Each");
    EXPECT_EQ(map.qualifier, "7");
}

TEST(Arn, IsRefusedByTheServicesName) {
    for (const auto* text :
         {"", "orders", "arn:aws:states:us-east-1:1:stateMachine", "arn:aws:s3:::bucket:x:y",
          "arn:aws:states:us-east-1:1:stateMachine:", "arn:aws:states:us-east-1:1:queue:a",
          "arn:aws:states:us-east-1:1:execution:a", "arn:aws:states:us-east-1:1:activity:a:b",
          "arn:aws:states:us-east-1:1:stateMachine:a:b:c"}) {
        EXPECT_EQ(Arn::parse(text).error().type, "InvalidArn") << text;
    }
    EXPECT_EQ(Arn::parse(ArnMaker{}.activity("a"), Arn::Kind::Execution).error().type,
              "InvalidArn");
}

TEST(Name, HasNoBlanksBracketsAndMarks) {
    EXPECT_TRUE(is_name("a-b_c.d@e"));
    EXPECT_TRUE(is_name(std::string(80, 'a')));
    EXPECT_FALSE(is_name(std::string(81, 'a')));
    for (const auto* name : {"", "a b", "a/b", "a:b", "a*", "a<b>", "a\n", "a\"", "a~b", "a\xff"}) {
        EXPECT_FALSE(is_name(name)) << name;
    }
}

} // namespace
} // namespace sluice::server::stepfunctions

#include "resp/commands.h"

#include <gtest/gtest.h>

namespace sluice::resp {
namespace {

using namespace std::string_view_literals;

TEST(Commands, StandBehindEachOther) {
    auto commands = Commands{};
    commands.add("SET", std::string("a\0b", 3), std::int64_t{-5});
    commands.begin(1);
    commands.argument(std::string_view{"PING"});

    EXPECT_EQ(commands.text(),
              "*3\r\n$3\r\nSET\r\n$3\r\na\0b\r\n$2\r\n-5\r\n*1\r\n$4\r\nPING\r\n"sv);
    EXPECT_EQ(commands.count(), 2);
    commands.clear();
    EXPECT_EQ(commands.text(), "");
    EXPECT_EQ(commands.count(), 0);
}

} // namespace
} // namespace sluice::resp

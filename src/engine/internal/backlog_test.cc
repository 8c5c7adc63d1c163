#include "engine/internal/backlog.h"

#include <string>

#include <gtest/gtest.h>

namespace sluice::engine {
namespace {

std::vector<Input> commands(int from, int to) {
    auto inputs = std::vector<Input>{};
    for (; from < to; ++from) {
        inputs.emplace_back(CommandInput{.type = std::to_string(from)});
    }
    return inputs;
}

std::string type_of(const Input& input) {
    return std::get<CommandInput>(input).type;
}

TEST(Backlog, KeepsTheOrderOfWhatComesWhileSomeIsLeft) {
    auto backlog = Backlog{};
    auto next = 0;
    for (auto round = 0; round < 20; ++round) {
        auto more = commands(round * 10, round * 10 + 10);
        backlog.add(more);
        EXPECT_TRUE(more.empty());
        for (auto taken = 0; taken < 9; ++taken) {
            EXPECT_EQ(type_of(backlog.take()), std::to_string(next++));
        }
        EXPECT_EQ(backlog.size(), static_cast<std::size_t>(round) + 1);
    }
    EXPECT_FALSE(backlog.empty());
    auto left = backlog.take_all();
    ASSERT_EQ(left.size(), 20U);
    EXPECT_EQ(type_of(left.front()), std::to_string(next));
    EXPECT_TRUE(backlog.empty());
}

} // namespace
} // namespace sluice::engine

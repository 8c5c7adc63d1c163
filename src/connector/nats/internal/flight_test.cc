#include "connector/nats/internal/flight.h"

#include <gtest/gtest.h>

namespace sluice::connector::nats::internal {

namespace {

Sent sent_to(std::string subject, Nanos until) {
    return {.subject = std::move(subject),
            .key = "k",
            .message = {},
            .done = [](const Result<void>&) {},
            .until = until};
}

} // namespace

TEST(Flight, SettlesInAnyOrder) {
    auto flight = Flight{};
    flight.add(sent_to("a", Nanos{10}));
    flight.add(sent_to("a", Nanos{10}));
    flight.add(sent_to("a", Nanos{10}));

    EXPECT_TRUE(flight.settle(2));
    EXPECT_FALSE(flight.settle(2));
    EXPECT_TRUE(flight.settle(1));
    EXPECT_EQ(flight.count(), 1);
    EXPECT_TRUE(flight.settle(3));
    EXPECT_EQ(flight.count(), 0);
    EXPECT_EQ(flight.bytes(), 0);
    EXPECT_FALSE(flight.settle(4));
    EXPECT_FALSE(flight.settle(0));
    EXPECT_EQ(flight.add(sent_to("a", Nanos{10})), 4);
}

TEST(Flight, OneThatIsLateTakesThoseBehindItToTheSamePlaceAlong) {
    auto flight = Flight{};
    flight.add(sent_to("a", Nanos{10}));
    flight.add(sent_to("b", Nanos{20}));
    flight.add(sent_to("a", Nanos{20}));

    auto expired = flight.expire(Nanos{10});

    EXPECT_EQ(expired.size(), 2);
    EXPECT_EQ(flight.count(), 1);
    EXPECT_NE(flight.find(2), nullptr);
}

TEST(Flight, VisitsWhatIsNotSettledOldestFirst) {
    auto flight = Flight{};
    for (auto count = 0; count < 4; ++count) {
        flight.add(sent_to("a", Nanos{10}));
    }
    flight.settle(2);

    auto seen = std::vector<std::uint64_t>{};
    flight.each([&](std::uint64_t number, const Sent&) { seen.push_back(number); });

    EXPECT_EQ(seen, (std::vector<std::uint64_t>{1, 3, 4}));
    EXPECT_EQ(flight.settle_up_to(3).size(), 2);
    EXPECT_EQ(flight.settle_all().size(), 1);
}

} // namespace sluice::connector::nats::internal

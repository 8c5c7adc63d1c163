#include "engine/internal/commit.h"

#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "event/testing/events.h"
#include "trigger/testing/packed_text.h"

namespace sluice::engine {
namespace {

/// Keeps what was put.
class KeptBatch final : public store::Batch {
public:
    explicit KeptBatch(std::map<std::string, std::string>& kept) : kept_(kept) {}

    void put(std::string_view key, std::string_view value) override {
        kept_[std::string{key}] = value;
    }
    void remove(std::string_view /*key*/) override {}
    void remove_range(std::string_view /*from*/, std::string_view /*to*/) override {}
    void fence(const store::Fence& /*fence*/) override {}
    std::size_t bytes() const override { return 0; }
    void clear() override { kept_.clear(); }

private:
    std::map<std::string, std::string>& kept_;
};

/// One entry with a text of this size.
void write_down(trigger::Journal& journal, std::uint64_t number, std::size_t bytes) {
    journal.begin(trigger::EventNumber{number},
                  trigger::Arrival{.event = event::testing::event_named("x")},
                  fmt::format("{}:{}", number, std::string(bytes, 'x')));
    journal.end(trigger::Fate::Activated);
}

std::string first_text(const std::string& stored) {
    return trigger::decode_record(stored).value().at(0).json;
}

TEST(CommitTest, RecordsThatAreCopiedAndRecordsThatAreTakenKeepTheirKeys) {
    auto kept = std::map<std::string, std::string>{};
    auto commit = Commit{std::make_unique<KeptBatch>(kept)};
    auto journal = trigger::Journal{};
    constexpr auto small = std::size_t{100};
    constexpr auto large = std::size_t{200'000};
    for (auto round = 0; round < 2; ++round) {
        auto number = std::uint64_t{0};
        for (auto size : {small, large, small, large, large}) {
            ++number;
            write_down(journal, number, size);
            auto key = std::string(1, static_cast<char>('a' + number));
            commit.put_history(key, journal.record({}), journal);
            journal.clear();
        }
        EXPECT_GT(commit.bytes(), 3 * large);

        commit.finish();

        ASSERT_EQ(kept.size(), 5U);
        EXPECT_EQ(first_text(kept["b"]), fmt::format("1:{}", std::string(small, 'x')));
        EXPECT_EQ(first_text(kept["c"]), fmt::format("2:{}", std::string(large, 'x')));
        EXPECT_EQ(first_text(kept["d"]), fmt::format("3:{}", std::string(small, 'x')));
        EXPECT_EQ(first_text(kept["f"]), fmt::format("5:{}", std::string(large, 'x')));
        commit.clear(); // It is used again.
        EXPECT_EQ(commit.bytes(), 0U);
    }
}

TEST(CommitTest, ARecordGoesWithTheTextsThatItLiesIn) {
    auto kept = std::map<std::string, std::string>{};
    auto commit = Commit{std::make_unique<KeptBatch>(kept)};
    auto bytes = std::make_shared<const std::string>(R"({"id":"lent"})");
    auto text = trigger::testing::packed_text(bytes, bytes->size());
    auto journal = trigger::Journal{};
    journal.lend(text);
    journal.begin(trigger::EventNumber{1},
                  trigger::Arrival{.event = event::testing::event_named("x")}, *bytes);
    journal.end(trigger::Fate::Activated);
    commit.put_history("lent", journal.record({}), journal);
    journal.clear();
    write_down(journal, 2, 10);
    commit.put_history("own", journal.record({}), journal);
    EXPECT_GT(commit.bytes(), text->packed_bytes());

    commit.finish();

    EXPECT_EQ(first_text(kept["lent"]), *bytes);
    EXPECT_EQ(first_text(kept["own"]), "2:xxxxxxxxxx");
    EXPECT_EQ(text.use_count(), 1) << "nobody needs it any more";
}

} // namespace
} // namespace sluice::engine

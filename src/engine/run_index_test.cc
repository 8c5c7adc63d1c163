#include "engine/run_index.h"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "base/random.h"
#include "store/memory/memory_store.h"
#include "store/testing/forwarding_store.h"

namespace sluice::engine {
namespace {

using trigger::Status;

Time at_second(std::int64_t second) {
    return Time{std::chrono::seconds{second}};
}

/// Does something before one of its scans.
class BusyStore final : public store::testing::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;

    std::unique_ptr<store::Cursor> scan(std::string_view from, std::string_view to) const override {
        if (scans_++ == before_scan) {
            work();
        }
        return ForwardingStore::scan(from, to);
    }

    std::function<void()> work;
    int before_scan = 0;

private:
    mutable int scans_ = 0;
};

class RunIndexTest : public ::testing::Test {
protected:
    void put(const std::string& id, const RunSummary& summary) {
        auto run = RunName{.id = id};
        auto batch = store_.make_batch();
        put_listed(summary, shard_of(run, store_.shard_count()), run, *batch);
        ASSERT_TRUE(store_.commit(*batch));
        runs_.push_back({.run = run, .summary = summary});
    }

    /// Three hundred runs that differ in everything, some of them at the same time.
    void put_many() {
        auto random = Random{7};
        for (auto at = 0; at < 300; ++at) {
            auto status = static_cast<Status>(random.below(5));
            auto started = static_cast<std::int64_t>(random.below(100));
            auto summary = RunSummary{.definition = random.chance(0.5) ? "mail" : "bill",
                                      .status = status,
                                      .started = at_second(started)};
            if (status != Status::Running) {
                summary.ended = at_second(started + static_cast<std::int64_t>(random.below(100)));
            }
            if (random.chance(0.7)) {
                summary.labels = Value::object({{"env", random.chance(0.5) ? "prod" : "test"}});
            }
            put("run-" + std::to_string(at), summary);
        }
    }

    static bool is_wanted(const RunFilter& filter, const RunSummary& summary) {
        const auto* label = summary.labels.find("env");
        auto is_within = [](const std::optional<Time>& time, const std::optional<Time>& since,
                            const std::optional<Time>& until) {
            return (!since && !until) ||
                   (time && (!since || *time >= *since) && (!until || *time < *until));
        };
        return (!filter.status || *filter.status == summary.status) &&
               (filter.definition.empty() || filter.definition == summary.definition) &&
               (filter.label.empty() ||
                (label != nullptr && filter.label == "env=" + std::string{label->as_string()})) &&
               is_within(summary.started, filter.started_since, filter.started_until) &&
               is_within(summary.ended, filter.ended_since, filter.ended_until);
    }

    /// Every page, one behind the other.
    std::vector<ListedRun> list_all(RunFilter filter) {
        auto all = std::vector<ListedRun>{};
        do {
            auto page = list_runs(store_, filter);
            EXPECT_TRUE(page) << page.error().message;
            EXPECT_LE(page->runs.size(), filter.most);
            std::ranges::move(page->runs, std::back_inserter(all));
            filter.cursor = page->cursor;
        } while (!filter.cursor.empty());
        return all;
    }

    store::memory::MemoryStore store_{4};
    std::vector<ListedRun> runs_;
};

TEST_F(RunIndexTest, EveryFilterFindsWhatItNamesNewestFirst) {
    put_many();
    auto random = Random{11};
    for (auto round = 0; round < 200; ++round) {
        auto filter = RunFilter{.most = 1 + random.below(50)};
        auto maybe = [&](auto& bound) {
            if (random.chance(0.25)) {
                bound = at_second(static_cast<std::int64_t>(random.below(150)));
            }
        };
        if (random.chance(0.5)) {
            filter.status = static_cast<Status>(random.below(5));
        }
        filter.definition = random.chance(0.5) ? "mail" : "";
        filter.label = random.chance(0.5) ? "env=prod" : "";
        maybe(filter.started_since);
        maybe(filter.started_until);
        maybe(filter.ended_since);
        maybe(filter.ended_until);

        auto listed = list_all(filter);

        auto found = std::vector<std::string>{};
        for (const auto& each : listed) {
            found.push_back(each.run.id);
            EXPECT_TRUE(is_wanted(filter, each.summary));
        }
        std::ranges::sort(found);
        auto expected = std::vector<std::string>{};
        for (const auto& each : runs_) {
            if (is_wanted(filter, each.summary)) {
                expected.push_back(each.run.id);
            }
        }
        std::ranges::sort(expected);
        EXPECT_EQ(found, expected) << "round " << round;
        auto is_by_end = filter.ended_since || filter.ended_until;
        EXPECT_TRUE(std::ranges::is_sorted(listed, std::greater{}, [&](const ListedRun& each) {
            return is_by_end ? *each.summary.ended : each.summary.started;
        }));
    }
}

TEST_F(RunIndexTest, APageThatIsTheLastHasNoCursor) {
    put("a", {.started = at_second(1)});
    put("b", {.started = at_second(2)});

    auto both = list_runs(store_, {.most = 2});
    auto first = list_runs(store_, {.most = 1});

    EXPECT_EQ(both->runs.size(), 2U);
    EXPECT_EQ(both->cursor, "");
    EXPECT_EQ(first->runs.front().run.id, "b");
    EXPECT_NE(first->cursor, "");
}

TEST_F(RunIndexTest, NestedRunsAreListedByTheRunThatStartedThem) {
    put("a", {.started = at_second(1)});
    put("a~1.0", {.started = at_second(2), .parent = "a"});

    auto nested = list_runs(store_, {.label = "sluice.parent=a"});

    ASSERT_EQ(nested->runs.size(), 1U);
    EXPECT_EQ(nested->runs.front().run.id, "a~1.0");
}

TEST_F(RunIndexTest, WhatIsRemovedIsInNoPart) {
    auto summary = RunSummary{.definition = "mail",
                              .status = Status::Failed,
                              .started = at_second(1),
                              .ended = at_second(2),
                              .labels = Value::object({{"env", "prod"}}),
                              .parent = "p"};
    put("a", summary);

    auto batch = store_.make_batch();
    remove_listed(summary, shard_of(RunName{.id = "a"}, 4), {.id = "a"}, *batch);
    ASSERT_TRUE(store_.commit(*batch));

    EXPECT_FALSE(store_.scan({}, {})->is_valid());
}

TEST_F(RunIndexTest, SaysWhichLabelsAndCursorsAreNone) {
    for (const auto* label : {"env", "=prod"}) {
        auto page = list_runs(store_, {.label = label});
        ASSERT_FALSE(page);
        EXPECT_NE(page.error().message.find("key=value"), std::string::npos);
    }
    for (const auto* cursor : {"?", "AAAA"}) {
        EXPECT_EQ(list_runs(store_, {.cursor = cursor}).error().code, Errc::InvalidInput);
    }
}

TEST_F(RunIndexTest, NamesLongerThanAnyFindNothing) {
    auto name = std::string(300, 'n');

    EXPECT_TRUE(list_runs(store_, {.definition = name})->runs.empty());
    EXPECT_TRUE(list_runs(store_, {.label = name + "=x"})->runs.empty());
    EXPECT_TRUE(list_runs(store_, {.label = "x=" + name})->runs.empty());
}

TEST_F(RunIndexTest, NamesTheDefinitionsOfRunsWithAStatus) {
    for (auto at = 0; at < 20; ++at) {
        put("m" + std::to_string(at), {.definition = "mail", .started = at_second(at)});
        put("b" + std::to_string(at),
            {.definition = "bill", .status = Status::Failed, .started = at_second(at)});
    }
    put("none", {.started = at_second(1)});

    EXPECT_EQ(listed_definitions(store_, "default", Status::Running),
              std::vector<std::string>{"mail"});
    EXPECT_EQ(listed_definitions(store_, "default", Status::Failed),
              std::vector<std::string>{"bill"});
}

TEST_F(RunIndexTest, ListsARunThatEndsMeanwhile) {
    auto running = RunSummary{.definition = "mail", .started = at_second(1)};
    for (auto scan = 0; scan < 7; ++scan) {
        auto store = store::memory::MemoryStore{1};
        auto run = RunName{.id = "r"};
        auto busy = BusyStore{store};
        auto batch = store.make_batch();
        put_listed(running, ShardId{0}, run, *batch);
        ASSERT_TRUE(store.commit(*batch));
        busy.before_scan = scan;
        busy.work = [&] {
            auto ended = running;
            ended.status = Status::Succeeded;
            ended.ended = at_second(2);
            batch->clear();
            remove_listed(running, ShardId{0}, run, *batch);
            put_listed(ended, ShardId{0}, run, *batch);
            ASSERT_TRUE(store.commit(*batch));
        };

        auto page = list_runs(busy, {.most = 10});

        ASSERT_TRUE(page);
        ASSERT_EQ(page->runs.size(), 1U) << "it ended before scan " << scan;
        EXPECT_EQ(page->runs[0].run.id, "r");
    }
}

} // namespace
} // namespace sluice::engine

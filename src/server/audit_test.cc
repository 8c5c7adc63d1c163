#include "server/audit.h"

#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/keys.h"
#include "observe/diagnostics.h"
#include "store/memory/memory_store.h"

namespace sluice::server {
namespace {

using ::testing::ElementsAre;

class SetClock final : public Clock {
public:
    Time wall() const override { return Time{seconds.load()}; }
    Nanos steady() const override { return seconds.load(); }

    std::atomic<std::chrono::seconds> seconds{std::chrono::seconds{1'000'000}};
};

class AuditTest : public ::testing::Test {
protected:
    void open(AuditLimits limits = {}) {
        audit_.reset();
        audit_ = Audit::open(store_, clock_, metrics_, diagnostics_, limits).value();
    }

    void add(const std::string& who, std::uint32_t status = 200, const std::string& space = "a") {
        audit_->add({.who = who,
                     .method = "POST",
                     .route = "/v1/runs",
                     .space = space,
                     .target = "/v1/runs",
                     .status = status,
                     .peer = "::1"});
    }

    AuditPage list(const AuditFilter& filter = {}) {
        auto page = std::promise<Result<AuditPage>>{};
        audit_->list(filter, [&](Result<AuditPage> found) { page.set_value(std::move(found)); });
        return page.get_future().get().value();
    }

    static std::vector<std::string> who(const AuditPage& page) {
        auto names = std::vector<std::string>{};
        for (const auto& record : page.records) {
            names.push_back(record.who);
        }
        return names;
    }

    store::memory::MemoryStore store_;
    SetClock clock_;
    observe::Metrics metrics_;
    observe::NullDiagnostics diagnostics_;
    std::unique_ptr<Audit> audit_;
};

TEST_F(AuditTest, ListsTheLastFirst) {
    open();
    add("one");
    add("two", 403);

    auto page = list();

    EXPECT_THAT(who(page), ElementsAre("two", "one"));
    EXPECT_EQ(page.records[0].status, 403U);
    EXPECT_EQ(page.records[0].time, clock_.wall());
    EXPECT_EQ(page.records[0].peer, "::1");
}

TEST_F(AuditTest, IsThereAgainWhenTheStoreIsOpened) {
    open();
    add("one");

    open();
    add("two");

    EXPECT_THAT(who(list()), ElementsAre("two", "one"));
}

TEST_F(AuditTest, PagesAndFilters) {
    open();
    add("one", 200, "a");
    add("two", 200, "b");
    clock_.seconds = clock_.seconds.load() + std::chrono::seconds{10};
    add("one", 200, "b");

    EXPECT_THAT(who(list({.who = "one"})), ElementsAre("one", "one"));
    EXPECT_THAT(who(list({.space = "a"})), ElementsAre("one"));
    EXPECT_THAT(who(list({.since = clock_.wall()})), ElementsAre("one"));
    auto page = list({.limit = 1});
    EXPECT_THAT(who(page), ElementsAre("one"));
    page = list({.before = page.cursor, .limit = 1});
    EXPECT_THAT(who(page), ElementsAre("two"));
    page = list({.before = page.cursor, .limit = 1});
    EXPECT_EQ(page.cursor, 0U);
}

TEST_F(AuditTest, KeepsNoMoreThanItsBound) {
    open({.records_max = 2});
    for (const auto* name : {"1", "2", "3", "4"}) {
        add(name);
    }

    EXPECT_THAT(who(list()), ElementsAre("4", "3"));
    open({.records_max = 2});
    add("5");
    EXPECT_THAT(who(list()), ElementsAre("5", "4"));
}

TEST_F(AuditTest, ForgetsWhatIsOld) {
    open({.age_max = std::chrono::hours{1}});
    add("old");
    EXPECT_THAT(who(list()), ElementsAre("old"));
    clock_.seconds = clock_.seconds.load() + std::chrono::hours{2};
    add("new");

    EXPECT_THAT(who(list()), ElementsAre("new"));
}

TEST_F(AuditTest, IsNotFilledByWhoIsRefusedAllTheTime) {
    open();
    for (auto times = 0; times < 1'000; ++times) {
        add("anonymous", 401);
    }
    clock_.seconds = clock_.seconds.load() + std::chrono::seconds{1};
    add("anonymous", 401);

    auto page = list();

    EXPECT_EQ(page.records.size(), 21U);
    EXPECT_EQ(page.records[0].more, 980U);
}

} // namespace
} // namespace sluice::server

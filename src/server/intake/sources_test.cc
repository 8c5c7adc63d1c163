#include "server/intake/sources.h"

#include <atomic>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/testing/engine_fixture.h"
#include "server/intake/directory_source.h"
#include "value/json.h"

namespace sluice::server::intake {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// A folder that goes with the test.
class Folder {
public:
    Folder() {
        auto name = (fs::temp_directory_path() / "sources-XXXXXX").string();
        path = ::mkdtemp(name.data());
    }
    ~Folder() { fs::remove_all(path); }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream{path / name} << text;
    }

    fs::path path;
};

/// Half a second passes whenever somebody asks.
class QuickClock final : public Clock {
public:
    Time wall() const override { return Time{steady()}; }
    Nanos steady() const override { return ++asked * std::chrono::milliseconds{500}; }

    mutable std::atomic<int> asked = 0;
};

class SourcesTest : public engine::testing::EngineFixture {
protected:
    void SetUp() override {
        EngineFixture::SetUp();
        // Ends with the name of the second file.
        define("files", R"({"name": "files", "triggers": [
            {"id": "two", "on": "file.written", "condition": {"count": 2},
             "action": {"finish": {"result": "${event.subject}"}}}]})");
        start("inbox", "files");
        open_sources({folder_.path});
    }
    void TearDown() override {
        sources_.reset();
        engine_->stop();
    }

    void open_sources(std::vector<fs::path> roots) {
        sources_.reset();
        documents_ = std::move(*Documents::open(
            store_, {"route", std::string{Quotas::kind}, std::string{Sources::kind},
                     std::string{SourceFeed::state_kind}}));
        quotas_ = std::move(*Quotas::open(*documents_, store_, *engine_, quick_clock_));
        router_ = std::move(*EventRouter::open(*engine_, *documents_, {.quotas = quotas_.get()}));
        auto kinds = Sources::Kinds{};
        kinds["directory"] = std::make_unique<DirectoryKind>(std::move(roots));
        kinds["s3"] = std::make_unique<S3Kind>();
        sources_ = std::make_unique<Sources>(*documents_, *router_, clock_, std::move(kinds));
        sources_->start();
    }

    Value form(const fs::path& path) const {
        return Value::object({{"kind", "directory"},
                              {"path", path.string()},
                              {"to", Value::object({{"run", "inbox"}})}});
    }
    std::optional<Problem> put(const Value& source) {
        return sources_->put("default", "s", source);
    }
    std::string mistake(const std::string& json) {
        auto problem = put(value::parse_json(json).value());
        return problem ? problem->detail : "none";
    }

    Folder folder_;
    QuickClock quick_clock_;
    std::unique_ptr<Documents> documents_;
    std::unique_ptr<Quotas> quotas_;
    std::unique_ptr<EventRouter> router_;
    std::unique_ptr<Sources> sources_;
};

TEST_F(SourcesTest, BringFilesThatAreThereAndFilesThatCome) {
    folder_.write("begin", "1");
    folder_.write(".hidden", "no");
    ASSERT_FALSE(put(form(folder_.path)));

    folder_.write("end", "2");

    EXPECT_EQ(*wait_end("inbox").find("result"), Value{"end"});
}

TEST_F(SourcesTest, AreSlowedByTheQuotaOfEvents) {
    ASSERT_TRUE(
        quotas_->set("default", Value::object({{"events_rate", "30/m"}, {"events_burst", 1}})));
    folder_.write("begin", "1");
    folder_.write("end", "2");

    ASSERT_FALSE(put(form(folder_.path)));

    EXPECT_EQ(*wait_end("inbox").find("result"), Value{"end"});
    EXPECT_GE(quick_clock_.asked, 5) << "an event every two seconds";
}

TEST_F(SourcesTest, BringNoFileTwiceAfterARestart) {
    folder_.write("begin", "1");
    ASSERT_FALSE(put(form(folder_.path)));
    open_sources({folder_.path});
    open_sources({folder_.path});
    folder_.write("end", "2");

    EXPECT_EQ(*wait_end("inbox").find("result"), Value{"end"});
}

TEST_F(SourcesTest, BringAFileThatIsMovedIn) {
    auto elsewhere = Folder{};
    elsewhere.write("end", "2");
    folder_.write("begin", "1");
    ASSERT_FALSE(put(form(folder_.path)));

    fs::rename(elsewhere.path / "end", folder_.path / "end");

    EXPECT_EQ(*wait_end("inbox").find("result"), Value{"end"});
}

TEST_F(SourcesTest, KeepToTheDirectoriesThatTheOperatorAllows) {
    auto elsewhere = Folder{};
    EXPECT_EQ(put(form(elsewhere.path))->status, 403);
    EXPECT_EQ(put(form(folder_.path / ".."))->status, 403);
    EXPECT_EQ(put(form(folder_.path / "missing"))->status, 403);
    fs::create_directory_symlink(elsewhere.path, folder_.path / "link");
    EXPECT_EQ(put(form(folder_.path / "link"))->status, 403);
    fs::create_directory(folder_.path / "inside");
    EXPECT_FALSE(put(form(folder_.path / "inside")));

    open_sources({});
    auto problem = put(form(folder_.path));
    EXPECT_EQ(problem->status, 403);
    EXPECT_THAT(problem->detail, HasSubstr("watch_roots"));
    auto view = sources_->view("default", "s").value();
    EXPECT_THAT(view.find("state")->find("error")->as_string(), HasSubstr("watch_roots"));
}

TEST_F(SourcesTest, DoNotFollowLinksToFiles) {
    auto elsewhere = Folder{};
    elsewhere.write("secret", "x");
    fs::create_symlink(elsewhere.path / "secret", folder_.path / "link");
    folder_.write("begin", "1");
    ASSERT_FALSE(put(form(folder_.path)));
    folder_.write("end", "1");

    EXPECT_EQ(*wait_end("inbox").find("result"), Value{"end"});
}

TEST_F(SourcesTest, ArePausedAndRemoved) {
    ASSERT_FALSE(put(form(folder_.path)));
    ASSERT_FALSE(sources_->set_paused("default", "s", true));
    EXPECT_EQ(*sources_->view("default", "s")->find("paused"), Value{true});
    folder_.write("begin", "1");
    folder_.write("end", "2");
    ASSERT_FALSE(sources_->set_paused("default", "s", false));
    EXPECT_EQ(*wait_end("inbox").find("result"), Value{"end"});

    EXPECT_FALSE(sources_->remove("default", "s"));
    EXPECT_EQ(sources_->remove("default", "s")->status, 404);
    EXPECT_EQ(sources_->set_paused("default", "s", true)->status, 404);
    EXPECT_TRUE(sources_->list("default").empty());
}

TEST_F(SourcesTest, OfS3WaitToBeCalled) {
    ASSERT_FALSE(put(value::parse_json(R"({"kind": "s3"})").value()));
    EXPECT_TRUE(sources_->feed_of("default", "s", "s3"));
    EXPECT_EQ(sources_->feed_of("default", "none", "s3").error().status, 404);
    ASSERT_FALSE(sources_->set_paused("default", "s", true));
    EXPECT_EQ(sources_->feed_of("default", "s", "s3").error().status, 503);
}

TEST_F(SourcesTest, SayWhatIsWrong) {
    EXPECT_THAT(mistake(R"({"kind": "kafka"})"), HasSubstr("expected one of directory, s3"));
    EXPECT_THAT(mistake(R"({"kind": "s3", "bucket": "b"})"), HasSubstr("no members"));
    EXPECT_THAT(mistake(R"({"kind": "s3", "to": {"run": "a b"}})"), HasSubstr("to: expected"));
    EXPECT_THAT(mistake(R"({"kind": "s3", "paused": 1})"), HasSubstr("paused"));
    EXPECT_THAT(mistake(R"({"kind": "directory", "path": "inbox"})"), HasSubstr("absolute"));
    EXPECT_THAT(mistake(R"({"kind": "directory", "path": "/x", "content_max": -1})"),
                HasSubstr("content_max"));
    EXPECT_THAT(mistake(R"({"kind": "directory", "path": "/x", "type": "sluice.x"})"),
                HasSubstr("type"));
}

} // namespace
} // namespace sluice::server::intake

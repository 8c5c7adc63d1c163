#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Given {
    std::string run;
    std::vector<std::string> labels;
    std::optional<std::string> wait;
    std::uint64_t limit = 100;
    bool is_json = false;
    std::string part;
    std::string told;
};

class CommandLineTest : public ::testing::Test {
protected:
    void SetUp() override {
        program_ = {
            .name = "sluice",
            .help = "For tests.",
            .version = "1.2.3",
            .commands = {
                {.name = "show",
                 .help = "Show a run",
                 .words = {{.name = "RUN",
                            .target = &given_.run,
                            .help = "",
                            .completes = Completes::Run},
                           {.name = "--label", .target = &given_.labels, .help = ""},
                           {.name = "--wait", .target = &given_.wait, .help = ""},
                           {.name = "--limit",
                            .target = &given_.limit,
                            .help = "",
                            .least = 1,
                            .most = 10},
                           {.name = "--json", .target = &given_.is_json, .help = "It's JSON"},
                           {.name = "--status",
                            .target = &given_.part,
                            .help = "",
                            .choices = {"up", "down"}},
                           {.name = "--left",
                            .target = [this] { given_.part = "left"; },
                            .help = "",
                            .group = "side"},
                           {.name = "--right",
                            .target = [this] { given_.part = "right"; },
                            .help = "",
                            .group = "side"}},
                 .run = [this] { return tell("show"); }},
                {.name = "token", .help = "Tokens"},
                {.name = "token create",
                 .help = "Make one",
                 .words =
                     {{.name = "NAME", .target = &given_.run, .help = "", .is_required = true}},
                 .run = [this] { return tell("token create"); }}}};
    }

    ExitCode tell(std::string what) {
        given_.told = std::move(what);
        return ExitCode::Ok;
    }

    ExitCode run(std::vector<std::string> words) {
        words.insert(words.begin(), "sluice");
        auto arguments = std::vector<char*>{};
        for (auto& word : words) {
            arguments.push_back(word.data());
        }
        ::testing::internal::CaptureStderr();
        auto code = cli::run(program_, arguments);
        errors_ = ::testing::internal::GetCapturedStderr();
        return code;
    }

    Given given_;
    Program program_;
    std::string errors_;
};

TEST_F(CommandLineTest, FillsWhatTheWordsSay) {
    EXPECT_EQ(run({"show", "r1", "--label", "a=1", "--label", "b=2", "--limit", "7", "--json"}),
              ExitCode::Ok);

    EXPECT_EQ(given_.told, "show");
    EXPECT_EQ(given_.run, "r1");
    EXPECT_THAT(given_.labels, ElementsAre("a=1", "b=2"));
    EXPECT_EQ(given_.limit, 7U);
    EXPECT_TRUE(given_.is_json);
    EXPECT_FALSE(given_.wait);
}

TEST_F(CommandLineTest, TakesAnOptionalValueOnlyBehindItsSign) {
    run({"show", "--wait", "r1"});
    EXPECT_EQ(given_.wait, "");
    EXPECT_EQ(given_.run, "r1");

    run({"show", "--wait=30s", "r2"});
    EXPECT_EQ(given_.wait, "30s");
}

TEST_F(CommandLineTest, FindsCommandsOfAGroup) {
    EXPECT_EQ(run({"token", "create", "ci"}), ExitCode::Ok);
    EXPECT_EQ(given_.told, "token create");
    EXPECT_EQ(run({"token"}), ExitCode::Invalid);
    EXPECT_EQ(run({"token", "create"}), ExitCode::Invalid);
}

TEST_F(CommandLineTest, SaysWhatWasProbablyMeant) {
    for (const auto& [words, meant] : std::vector<std::pair<std::vector<std::string>, std::string>>{
             {{"shwo"}, "`show`"},
             {{"show", "--jsno"}, "`--json`"},
             {{"show", "r", "--limt=3"}, "`--limit`"},
             {{"token", "craete"}, "`create`"},
             {{"tokne", "create"}, "`token`"}}) {
        EXPECT_EQ(run(words), ExitCode::Invalid);
        EXPECT_THAT(errors_, HasSubstr("did you mean " + meant)) << words.back();
    }
    run({"show", "--entirely-other"});
    EXPECT_THAT(errors_, Not(HasSubstr("did you mean")));
    EXPECT_THAT(errors_, HasSubstr("`sluice show --help`"));
}

TEST_F(CommandLineTest, RefusesWhatDoesNotFit) {
    EXPECT_EQ(run({}), ExitCode::Invalid);
    EXPECT_EQ(run({"show", "--limit", "11"}), ExitCode::Invalid);
    EXPECT_EQ(run({"show", "--limit", "0"}), ExitCode::Invalid);
    EXPECT_EQ(run({"show", "--status", "sideways"}), ExitCode::Invalid);
    EXPECT_EQ(run({"show", "--left", "--right"}), ExitCode::Invalid);
    EXPECT_EQ(run({"show", "a", "b"}), ExitCode::Invalid);
    EXPECT_EQ(run({"show", "--left"}), ExitCode::Ok);
    EXPECT_EQ(given_.part, "left");
}

} // namespace
} // namespace sluice::cli

#include "cli/internal/profiles.h"

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/connection.h"
#include "cli/internal/files.h"
#include "value/json.h"

namespace sluice::cli {
namespace {

using ::testing::HasSubstr;

class ProfilesTest : public ::testing::Test {
protected:
    void SetUp() override {
        auto path = std::string{"/tmp/sluice-profiles-XXXXXX"};
        folder_ = ::mkdtemp(path.data());
        std::filesystem::create_directories(folder_ / "sluice");
        file_ = folder_ / "sluice" / "config.yaml";
        ::setenv("XDG_CONFIG_HOME", folder_.c_str(), 1);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    void write(const std::filesystem::path& path, const std::string& text, mode_t mode = 0600) {
        std::ofstream{path} << text;
        ::chmod(path.c_str(), mode);
    }
    Result<Profiles> read() { return read_profiles(host_, profiles_file()); }

    // Tests write JSON, which is YAML too.
    Host host_{.read_document = [](const std::string& text,
                                   const std::string&) { return value::parse_json(text); },
               .open_data = nullptr};
    std::filesystem::path folder_;
    std::filesystem::path file_;
};

TEST_F(ProfilesTest, NamesServersAndHowToAskThem) {
    write(file_, R"({"current":"b","profiles":{"a":{"server":"http://a"},
        "b":{"server":"https://b","token_file":"b.token","namespace":"team","ca":"/ca"}}})");
    write(folder_ / "sluice" / "b.token", "slc_1\n");

    auto profiles = read();
    auto found = profiles->find(profiles->current);

    EXPECT_EQ(profiles->all.size(), 2U);
    EXPECT_EQ(found->server, "https://b");
    EXPECT_EQ(found->token, "slc_1");
    EXPECT_EQ(found->space, "team");
}

TEST_F(ProfilesTest, AreNoneWithoutAFile) {
    EXPECT_TRUE(read()->all.empty());
}

TEST_F(ProfilesTest, KeepTokensToTheirOwner) {
    write(file_, R"({"profiles":{"a":{"server":"http://a","token":"slc_1"}}})", 0644);
    EXPECT_THAT(read()->find("a").error().message, HasSubstr("chmod 600"));

    write(file_, R"({"profiles":{"a":{"server":"http://a"}}})", 0644);
    EXPECT_TRUE(read()->find("a"));
}

TEST_F(ProfilesTest, SayWhatIsWrong) {
    write(file_, R"({"profiles":{"work":{"server":"http://a"}}})");
    EXPECT_THAT(read()->find("wrok").error().message, HasSubstr("did you mean `work`?"));
    write(file_, R"({"profiles":{"work":{"sevrer":"http://a"}}})");
    EXPECT_THAT(read().error().message, HasSubstr("sevrer"));
    write(file_, R"({"profiles":{"work":{}}})");
    EXPECT_THAT(read().error().message, HasSubstr("needs a server"));
    write(file_, R"({"profile":{}})");
    EXPECT_FALSE(read());
}

TEST_F(ProfilesTest, ChangeTheCurrentOneAndNothingElse) {
    write(file_, "{\"profiles\":{\"a\":{\"server\":\"http://a\"}}}\n");
    ASSERT_TRUE(use_profile(*read(), "a"));
    EXPECT_EQ(*read_text(file_.string()),
              "current: a\n{\"profiles\":{\"a\":{\"server\":\"http://a\"}}}\n");

    write(file_, "# b\ncurrent: b\nx");
    ASSERT_TRUE(use_profile({.file = file_, .all = {{.name = "a"}}}, "a"));
    EXPECT_EQ(*read_text(file_.string()), "# b\ncurrent: a\nx");
    EXPECT_FALSE(use_profile({.file = file_}, "a"));
}

TEST_F(ProfilesTest, AreUsedWhereNothingElseNamesAServer) {
    write(file_, R"({"current":"a","profiles":{"a":{"server":"http://a.example"}}})");
    ::unsetenv("SLUICE_SERVER");

    EXPECT_EQ(Connection{}.open(host_)->server(), "http://a.example");
    EXPECT_EQ(Connection{.server = "http://b"}.open(host_)->server(), "http://b");
    ::setenv("SLUICE_SERVER", "http://c", 1);
    EXPECT_EQ(Connection{}.open(host_)->server(), "http://c");
    EXPECT_EQ(Connection{.server = "http://b"}.open(host_)->server(), "http://b");
    ::unsetenv("SLUICE_SERVER");
    EXPECT_FALSE(Connection{.profile = "none"}.open(host_));
}

} // namespace
} // namespace sluice::cli

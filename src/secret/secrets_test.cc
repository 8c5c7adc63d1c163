#include "secret/secrets.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace sluice::secret {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class SecretsTest : public ::testing::Test {
protected:
    SecretsTest()
        : folder_(std::filesystem::temp_directory_path() /
                  fmt::format("secrets-{}-{}", ::getpid(),
                              ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
        std::filesystem::create_directories(folder_);
    }
    ~SecretsTest() override { std::filesystem::remove_all(folder_); }

    void write(const std::string& name, const std::string& text) {
        std::ofstream{folder_ / name, std::ios::binary} << text;
    }

    std::filesystem::path folder_;
};

TEST_F(SecretsTest, StandWhereTheyWereReferredTo) {
    write("key", "abc\n");
    auto secrets = Secrets{folder_, {{"SLUICE_SECRET_MAIL_KEY", "xyz"}}};

    EXPECT_EQ(secrets.expand("a ${secret:key}-${secret:mail.key} b"), "a abc-xyz b");
    EXPECT_EQ(secrets.expand("no ${other}"), "no ${other}");
}

TEST_F(SecretsTest, AreReadAgainAtEachUse) {
    auto secrets = Secrets{folder_, {}};
    write("key", "old");
    EXPECT_EQ(secrets.expand("${secret:key}"), "old");

    write("key", "new");

    EXPECT_EQ(secrets.expand("${secret:key}"), "new");
}

TEST_F(SecretsTest, SaysWhereToWriteOneThatIsMissing) {
    auto missing = Secrets{folder_, {}}.expand("${secret:mail-key}");

    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code, Errc::NotFound);
    EXPECT_THAT(missing.error().message, HasSubstr("SLUICE_SECRET_MAIL_KEY"));
}

TEST_F(SecretsTest, LeadOutOfNoFolder) {
    write("key", "abc");
    auto secrets = Secrets{folder_ / "sub", {}};

    for (const auto* text : {"${secret:../key}", "${secret:/etc/passwd}", "${secret:}",
                             "${secret:a", "${secret:.hidden}", "${secret:..}"}) {
        auto refused = secrets.expand(text);
        ASSERT_FALSE(refused) << text;
        EXPECT_EQ(refused.error().code, Errc::InvalidInput) << text;
    }
}

TEST_F(SecretsTest, OfAScopeLieInItsFolder) {
    write("key", "everybody's");
    std::filesystem::create_directories(folder_ / "team");
    write("team/key", "the team's");
    auto secrets = Secrets{folder_, {{"SLUICE_SECRET_OTHER", "not theirs"}}};

    EXPECT_EQ(secrets.expand("${secret:key}", "team"), "the team's");
    EXPECT_EQ(secrets.expand("${secret:key}", "another").error().code, Errc::NotFound);
    EXPECT_EQ(secrets.expand("${secret:other}", "team").error().code, Errc::NotFound);
    EXPECT_EQ(secrets.expand("${secret:key}", "team/..").error().code, Errc::NotFound);
    EXPECT_EQ(secrets.expand("${secret:key}", "..").error().code, Errc::NotFound);
    EXPECT_EQ(secrets.expand("${secret:team}").error().code, Errc::NotFound);
}

TEST_F(SecretsTest, AreBoundedInSize) {
    write("large", std::string(Secrets::secret_bytes_max + 1, 'x'));

    EXPECT_EQ((Secrets{folder_, {}}.expand("${secret:large}").error().code), Errc::LimitExceeded);
}

TEST_F(SecretsTest, AreTakenOutOfWhatIsTold) {
    auto secrets = Secrets{{}, {{"SLUICE_SECRET_KEY", "s3cr3t!"}}};
    ASSERT_TRUE(secrets.expand("${secret:key}"));

    EXPECT_EQ(secrets.redact("401: s3cr3t! and s3cr3t! are wrong"),
              "401: ${secret:key} and ${secret:key} are wrong");
}

TEST_F(SecretsTest, OfTheEnvironmentAreInheritedByNobody) {
    ::setenv("SLUICE_SECRET_A_TEST", "abc", 1);

    auto taken = take_from_environment();

    EXPECT_EQ(taken.find("SLUICE_SECRET_A_TEST")->second, "abc");
    EXPECT_EQ(::getenv("SLUICE_SECRET_A_TEST"), nullptr);
}

} // namespace
} // namespace sluice::secret

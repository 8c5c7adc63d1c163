#include "server/configuration.h"

#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "value/json.h"

namespace sluice::server {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ConfigurationTest : public ::testing::Test {
protected:
    std::vector<std::string> read(const std::string& json) {
        auto texts = std::vector<std::string>{};
        for (const auto& fault : configured_.read_file(value::parse_json(json).value())) {
            texts.push_back(fault.path + ": " + fault.message);
        }
        return texts;
    }
    std::string text(std::string_view name) const { return configured_.text(*setting_named(name)); }
    Origin origin(std::string_view name) const { return configured_.origin(*setting_named(name)); }

    Configured configured_;
};

TEST_F(ConfigurationTest, FlagsBeatTheEnvironmentAndThatBeatsTheFile) {
    EXPECT_THAT(read(R"({"threads": 2, "limits": {"body": "1MiB", "header": 2048},
                         "hosts": ["a.example", "b.example"]})"),
                IsEmpty());
    ASSERT_TRUE(configured_.read_environment(
        {{"SLUICE_THREADS", "3"}, {"SLUICE_LIMITS_BODY", "2MiB"}, {"SLUICE_OTHER", "x"}}));
    ASSERT_TRUE(configured_.read_flags({{"threads", "4"}}));

    EXPECT_EQ(configured_.values().threads, 4U);
    EXPECT_EQ(configured_.values().limit_body, Bytes{2U << 20U});
    EXPECT_EQ(text("limits.header"), "2KiB");
    EXPECT_EQ(text("hosts"), "a.example,b.example");
    EXPECT_EQ(text("limits.idle_time"), "1m15s");
    EXPECT_EQ(origin("threads"), Origin::Flag);
    EXPECT_EQ(origin("limits.body"), Origin::Environment);
    EXPECT_EQ(origin("hosts"), Origin::File);
    EXPECT_EQ(origin("data"), Origin::Default);
}

TEST_F(ConfigurationTest, SaysWhereAFileIsWrong) {
    EXPECT_THAT(read(R"({"listn": "x", "limits": {"bodi": 1, "header": "2 apples"}, "tls": 5,
                 "threads": 65, "durability": "loose", "stop": {"grace": "soon"}, "data": {}})"),
                ElementsAre("listn: unknown setting: did you mean \"listen\"?",
                            "limits/bodi: unknown setting: did you mean \"body\"?",
                            "limits/header: expected a size such as 4MiB, 64KiB or 1000",
                            "tls: expected a map of certificate, key", "threads: expected 1 to 64",
                            "durability: expected strict, relaxed, memory",
                            "stop/grace: expected a duration such as 30s", "data: expected DIR"));
}

TEST_F(ConfigurationTest, SaysWhichVariableOrFlagIsWrong) {
    auto variable = configured_.read_environment({{"SLUICE_THREADS", "many"}});
    auto flag = configured_.read_flags({{"limits.body", "-1"}});
    auto secret = configured_.read_environment({{"SLUICE_TOKEN", "hunter2"}});

    EXPECT_EQ(variable.error().message, "SLUICE_THREADS=many: expected a number");
    EXPECT_THAT(flag.error().message, HasSubstr("--limits-body -1: expected a size"));
    EXPECT_THAT(secret.error().message, Not(HasSubstr("hunter2")));
}

TEST_F(ConfigurationTest, TakesTokensByHashOrReference) {
    auto hash = std::string(64, 'a');
    EXPECT_THAT(
        read(R"({"tokens": [{"name": "ci", "role": "operator", "namespace": "team",
                                     "expires": "2030-01-01T00:00:00Z", "hash": ")" +
             hash + R"("}, {"name": "root", "role": "admin", "secret": "${secret:root}"}]})"),
        IsEmpty());

    const auto& tokens = configured_.values().tokens;
    ASSERT_EQ(tokens.size(), 2U);
    EXPECT_EQ(tokens[0].hash, hash);
    EXPECT_EQ(tokens[0].info.space, "team");
    EXPECT_TRUE(tokens[0].info.expires);
    EXPECT_EQ(tokens[1].info.role, Role::Admin);
    EXPECT_EQ(text("tokens"), "ci,root");
}

TEST_F(ConfigurationTest, TakesNoSecretFromAFile) {
    EXPECT_THAT(read(R"({"token": "0123456789abcdef", "tokens": [{"name": "a", "role": "boss",
                         "secret": "0123456789abcdef"}, {"nam": "b"}, 7]})"),
                ElementsAre(HasSubstr("token: a secret does not stand in a file"),
                            "tokens/0/role: expected reader, operator or admin",
                            HasSubstr("tokens/0/secret: a secret does not stand in a file"),
                            "tokens/1/nam: unknown member: did you mean \"name\"?",
                            "tokens/1: a token needs a name",
                            "tokens/1: a token needs either hash or secret",
                            HasSubstr("tokens/2: expected {name")));
}

TEST_F(ConfigurationTest, ShowsNoSecret) {
    ASSERT_TRUE(configured_.read_environment({{"SLUICE_TOKEN", "0123456789abcdef"}}));

    EXPECT_EQ(text("token"), "(set)");
    EXPECT_THAT(value::to_json(configured_.view()), Not(HasSubstr("0123456789")));
}

TEST_F(ConfigurationTest, HoldsSettingsAgainstEachOther) {
    ASSERT_TRUE(configured_.check());
    ASSERT_TRUE(configured_.read_flags({{"tls.key", "key.pem"}}));

    EXPECT_THAT(configured_.check().error().message, HasSubstr("both certificate and key"));
}

TEST_F(ConfigurationTest, TellsWhatAnotherHasDifferently) {
    auto other = Configured{};
    ASSERT_TRUE(other.read_flags({{"threads", "2"}, {"log.level", "debug"}}));

    auto names = std::vector<std::string_view>{};
    for (const auto* setting : configured_.differences(other)) {
        names.push_back(setting->name);
    }

    EXPECT_THAT(names, ElementsAre("threads", "log.level"));
}

TEST(Settings, HaveNamesOfTheirOwnEverywhere) {
    auto seen = std::set<std::string>{};
    for (const auto& setting : settings()) {
        EXPECT_TRUE(seen.insert(std::string{setting.name}).second) << setting.name;
        if (!setting.variable().empty()) {
            EXPECT_TRUE(seen.insert(setting.variable()).second) << setting.name;
        }
    }
}

/// A row of docs/reference/configuration.md.
std::string row_of(const Setting& setting) {
    auto code = [](const std::string& text) { return text.empty() ? "" : "`" + text + "`"; };
    return fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |", setting.name,
                       code(setting.variable()), code(setting.flag()),
                       code(std::string{setting.form}), code(Configured{}.text(setting)),
                       setting.change == Change::Live ? "yes" : "", setting.description);
}

TEST(Settings, AreTheOnesThatTheReferenceTells) {
    auto file = std::ifstream{PROJECT_FOLDER "/docs/reference/configuration.md"};
    auto text = std::stringstream{};
    text << file.rdbuf();
    auto rows = std::string{"| --- | --- | --- | --- | --- | --- | --- |\n"};
    for (const auto& setting : settings()) {
        rows += row_of(setting) + "\n";
    }

    EXPECT_THAT(text.str(), HasSubstr(rows)) << rows;
}

} // namespace
} // namespace sluice::server

#include "observe/diagnostics.h"

#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "observe/diagnostic_lines.h"
#include "observe/testing/captured_diagnostics.h"

namespace sluice::observe {
namespace {

using ::testing::ElementsAre;

/// A fixed moment: 2026-11-15T06:07:08.009Z.
class FixedClock final : public Clock {
public:
    Time wall() const override { return Time{std::chrono::milliseconds{1'794'722'828'009}}; }
    Nanos steady() const override { return Nanos{0}; }
};

/// A file in memory that diagnostics are written to.
class Lines {
public:
    Lines() : descriptor_(::memfd_create("lines", MFD_CLOEXEC)) {}
    ~Lines() { ::close(descriptor_); }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;

    int descriptor() const { return descriptor_; }

    std::string text() const {
        auto text = std::string(static_cast<std::size_t>(::lseek(descriptor_, 0, SEEK_END)), ' ');
        auto size = ::pread(descriptor_, text.data(), text.size(), 0);
        return text.substr(0, static_cast<std::size_t>(size));
    }

private:
    int descriptor_;
};

TEST(Diagnostics, TextHasTimeLevelMessageAndFields) {
    auto lines = Lines{};
    auto clock = FixedClock{};
    auto diag = DiagnosticLines{clock, Format::Text, Level::Info, lines.descriptor()};

    diag.warn("sink refused the event", {{"sink", "mail"}, {"attempt", 3}, {"why", "no \"room\""}});
    diag.info("started");

    EXPECT_EQ(lines.text(),
              "2026-11-15T06:07:08.009Z warn  sink refused the event sink=mail attempt=3 "
              "why=\"no \\\"room\\\"\"\n"
              "2026-11-15T06:07:08.009Z info  started\n");
}

TEST(Diagnostics, JsonKeepsNumbersAndEscapesTexts) {
    auto lines = Lines{};
    auto clock = FixedClock{};
    auto diag = DiagnosticLines{clock, Format::Json, Level::Info, lines.descriptor()};

    diag.error("disk is full", {{"free", 0U},
                                {"share", 0.5},
                                {"bad", std::numeric_limits<double>::infinity()},
                                {"ok", false},
                                {"path", std::string{"a\"\\\n\x01"}}});

    EXPECT_EQ(lines.text(),
              R"({"time":"2026-11-15T06:07:08.009Z","level":"error","message":"disk is full",)"
              R"("free":0,"share":0.5,"bad":"inf","ok":false,"path":"a\"\\\n\u0001"})"
              "\n");
}

TEST(Diagnostics, DropsWhatIsLessUrgentThanAsked) {
    auto lines = Lines{};
    auto clock = FixedClock{};
    auto diag = DiagnosticLines{clock, Format::Text, Level::Warn, lines.descriptor()};

    diag.info("started");
    diag.debug("event taken");

    EXPECT_EQ(lines.text(), "");
    EXPECT_TRUE(diag.is_heard(Level::Error));
    EXPECT_FALSE(diag.is_heard(Level::Info));
}

TEST(Diagnostics, HearsMoreOnceItIsTold) {
    auto diag = testing::CapturedDiagnostics{};
    diag.set_least(*level_named("warn"));
    diag.info("not heard");
    diag.set_least(*level_named("info"));
    diag.info("heard");

    EXPECT_THAT(diag.lines(), ElementsAre("info: heard"));
    EXPECT_FALSE(level_named("loud"));
}

TEST(Diagnostics, SurvivesADescriptorThatCannotBeWritten) {
    auto clock = FixedClock{};
    auto diag = DiagnosticLines{clock, Format::Text, Level::Info, -1};

    diag.error("nobody reads this");
}

TEST(Diagnostics, ThreadsDoNotMixTheirLines) {
    auto lines = Lines{};
    auto clock = FixedClock{};
    auto diag = DiagnosticLines{clock, Format::Text, Level::Info, lines.descriptor()};
    auto writer = [&] {
        for (auto line = 0; line < 200; line++) {
            diag.info("line", {{"text", std::string(100, 'x')}});
        }
    };

    {
        auto first = std::jthread{writer};
        auto second = std::jthread{writer};
    }

    auto expected = "2026-11-15T06:07:08.009Z info  line text=" + std::string(100, 'x') + "\n";
    auto text = lines.text();
    ASSERT_EQ(text.size(), 400 * expected.size());
    for (auto at = std::size_t{0}; at < text.size(); at += expected.size()) {
        ASSERT_EQ(text.substr(at, expected.size()), expected);
    }
}

TEST(Diagnostics, AreCapturedForTests) {
    auto diag = testing::CapturedDiagnostics{};

    diag.debug("event taken", {{"offset", 7}});

    EXPECT_THAT(diag.lines(), ElementsAre("debug: event taken offset=7"));
}

} // namespace
} // namespace sluice::observe

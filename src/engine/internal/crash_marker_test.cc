#include "engine/internal/crash_marker.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

namespace sluice::engine {
namespace {

class CrashMarkerTest : public ::testing::Test {
protected:
    CrashMarkerTest()
        : path_(std::filesystem::temp_directory_path() /
                ("sluice-marker-" + std::to_string(::getpid()))) {}
    ~CrashMarkerTest() override { std::filesystem::remove(path_); }

    /// A process that dies while it decides this event.
    void die_deciding(const Fingerprint& event) {
        auto marker = std::move(*CrashMarker::open(path_));
        marker->begin(0, event);
    }

    std::filesystem::path path_;
};

TEST_F(CrashMarkerTest, SuspectsAnEventThatStoppedTheProcessTwice) {
    auto event = fingerprint("poison");
    die_deciding(event);
    EXPECT_FALSE((*CrashMarker::open(path_))->is_suspect(event));

    die_deciding(event);

    EXPECT_TRUE((*CrashMarker::open(path_))->is_suspect(event));
    EXPECT_FALSE((*CrashMarker::open(path_))->is_suspect(fingerprint("other")));
}

TEST_F(CrashMarkerTest, SuspectsNoEventThatWasDecidedToItsEnd) {
    auto event = fingerprint("fine");
    for (auto times = 0; times < 3; ++times) {
        auto marker = std::move(*CrashMarker::open(path_));
        marker->begin(0, event);
        marker->end(0);
    }

    EXPECT_FALSE((*CrashMarker::open(path_))->has_suspects());
}

TEST_F(CrashMarkerTest, BeginsAnewOverAFileThatIsNotItsOwn) {
    {
        auto* file = std::fopen(path_.c_str(), "w");
        std::fputs("something else", file);
        std::fclose(file);
    }

    auto marker = CrashMarker::open(path_);

    ASSERT_TRUE(marker);
    EXPECT_FALSE((*marker)->has_suspects());
}

} // namespace
} // namespace sluice::engine

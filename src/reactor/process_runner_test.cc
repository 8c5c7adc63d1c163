#include "reactor/process_runner.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <future>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reactor/file_descriptor.h"

namespace sluice::reactor {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::unique_ptr<ProcessRunner> runner_with(CommandLimits limits = {}) {
    return std::move(ProcessRunner::create(limits)).value();
}

Command shell(std::string script) {
    return {.argv = {"/bin/sh", "-c", std::move(script)}};
}

struct Started {
    ProcessId id;
    std::future<Outcome> outcome;
};

Started start(ProcessRunner& runner, Command command) {
    auto promise = std::promise<Outcome>{};
    auto outcome = promise.get_future();
    auto done = [promise = std::move(promise)](Outcome given) mutable {
        promise.set_value(std::move(given));
    };
    auto id = runner.start(std::move(command), std::move(done));
    return {id, std::move(outcome)};
}

Outcome run(ProcessRunner& runner, Command command) {
    return start(runner, std::move(command)).outcome.get();
}

/// A named pipe that tells when a child has come somewhere, and when all who hold it are gone.
class Signpost {
public:
    Signpost() {
        auto pattern = std::string{"/tmp/sluice-signpost-XXXXXX"};
        directory_ = ::mkdtemp(pattern.data());
        ::mkfifo(path().c_str(), 0600);
        // Open for reading without waiting for a writer.
        read_ = FileDescriptor{::open(path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    }
    ~Signpost() { std::filesystem::remove_all(directory_); }

    std::string path() const { return directory_ + "/pipe"; }

    bool is_reached() const { return read_size() > 0; }
    bool is_abandoned() const { return read_size() == 0; }

private:
    ssize_t read_size() const {
        auto poll = pollfd{.fd = read_.raw(), .events = POLLIN, .revents = 0};
        if (::poll(&poll, 1, 10'000) != 1) {
            return -1;
        }
        char buffer[16];
        return ::read(read_.raw(), buffer, sizeof(buffer));
    }

    std::string directory_;
    FileDescriptor read_;
};

TEST(ProcessRunner, CollectsOutputErrorsAndExitCode) {
    auto runner = runner_with();

    auto outcome = run(*runner, shell("echo out; echo err >&2; exit 3"));

    EXPECT_FALSE(outcome.failure);
    EXPECT_EQ(outcome.output, "out\n");
    EXPECT_EQ(outcome.errors, "err\n");
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_EQ(outcome.signal, 0);
    EXPECT_FALSE(outcome.is_timed_out);
}

TEST(ProcessRunner, PassesMoreThroughTheChildThanPipesHold) {
    auto runner = runner_with();
    auto text = std::string{};
    for (auto line = 0; text.size() < 1'000'000; line++) {
        text += std::to_string(line) + "\n";
    }

    auto outcome = run(*runner, {.argv = {"cat"}, .input = text});

    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_TRUE(outcome.output == text);
}

TEST(ProcessRunner, ToleratesAChildThatIgnoresItsInput) {
    auto runner = runner_with();
    auto command = Command{.argv = {"true"}, .input = std::string(1'000'000, 'x')};

    auto outcome = run(*runner, std::move(command));

    EXPECT_FALSE(outcome.failure);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.signal, 0);
}

TEST(ProcessRunner, SaysWhichSignalEndedTheChild) {
    auto runner = runner_with();

    auto outcome = run(*runner, shell("kill -SEGV $$"));

    EXPECT_EQ(outcome.signal, SIGSEGV);
    EXPECT_FALSE(outcome.is_timed_out);
}

TEST(ProcessRunner, RunsManyChildrenAtOnce) {
    auto runner = runner_with();
    auto running = std::vector<Started>{};
    for (auto number = 0; number < 60; number++) {
        running.push_back(
            start(*runner, shell("read line; echo $line; exit " + std::to_string(number))));
        running.push_back(start(*runner, {.argv = {"cat"}, .input = std::to_string(number)}));
    }

    for (auto number = 0; number < 60; number++) {
        EXPECT_EQ(running[2 * number].outcome.get().exit_code, number);
        EXPECT_EQ(running[2 * number + 1].outcome.get().output, std::to_string(number));
    }
}

TEST(ProcessRunner, AddsToTheEnvironmentAndReplacesInIt) {
    auto runner = runner_with();
    auto command = shell("echo \"$HOME|$ADDED|${PATH:+path}\"");
    command.environment = {{"HOME", "/elsewhere"}, {"ADDED", "a=b c"}};

    EXPECT_EQ(run(*runner, command).output, "/elsewhere|a=b c|path\n");
}

TEST(ProcessRunner, RunsInTheDirectoryGiven) {
    auto runner = runner_with();
    auto command = shell("pwd");
    command.directory = "/";

    EXPECT_EQ(run(*runner, command).output, "/\n");
}

TEST(ProcessRunner, NamesTheProgramThatIsMissing) {
    auto runner = runner_with();

    auto outcome = run(*runner, {.argv = {"no-such-program-anywhere"}});

    ASSERT_TRUE(outcome.failure);
    EXPECT_EQ(outcome.failure->code, Errc::NotFound);
    EXPECT_EQ(outcome.failure->message, "cannot start 'no-such-program-anywhere': no such program");
}

TEST(ProcessRunner, NamesTheDirectoryThatIsMissing) {
    auto runner = runner_with();

    auto outcome = run(*runner, {.argv = {"true"}, .directory = "/no/such/place"});

    ASSERT_TRUE(outcome.failure);
    EXPECT_EQ(outcome.failure->message, "cannot start 'true': '/no/such/place' is not a directory");
}

TEST(ProcessRunner, RefusesWhatCannotBeExecuted) {
    auto runner = runner_with();

    EXPECT_EQ(run(*runner, {.argv = {"/etc/passwd"}}).failure->code, Errc::InvalidInput);
    EXPECT_EQ(run(*runner, {.argv = {}}).failure->code, Errc::InvalidInput);
    EXPECT_EQ(run(*runner, {.argv = {""}}).failure->code, Errc::InvalidInput);
}

TEST(ProcessRunner, KeepsTheBeginningOfTheOutputAndTheEndOfTheErrors) {
    auto runner = runner_with({.output_bytes_max = 10, .errors_bytes_max = 10});

    auto outcome = run(*runner, shell("seq 100000; seq 100000 >&2"));

    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.output, "1\n2\n3\n4\n5\n");
    EXPECT_TRUE(outcome.is_output_cut);
    EXPECT_EQ(outcome.errors, "99\n100000\n");
}

TEST(ProcessRunner, TerminatesAtTheTimeout) {
    auto runner = runner_with({.grace = seconds{60}});

    auto outcome = run(*runner, {.argv = {"sleep", "1000"}, .timeout = milliseconds{20}});

    EXPECT_TRUE(outcome.is_timed_out);
    EXPECT_EQ(outcome.signal, SIGTERM);
}

TEST(ProcessRunner, KillsAtTheTimeoutWhoIgnoresTermination) {
    auto runner = runner_with({.grace = milliseconds{20}});
    auto command = shell("trap '' TERM; while :; do sleep 1000; done");
    command.timeout = milliseconds{300};

    auto outcome = run(*runner, std::move(command));

    EXPECT_TRUE(outcome.is_timed_out);
    EXPECT_EQ(outcome.signal, SIGKILL);
}

TEST(ProcessRunner, KillsWhenCancelledWhoIgnoresTermination) {
    auto runner = runner_with({.grace = milliseconds{20}});
    auto signpost = Signpost{};
    auto running = start(*runner, shell("trap '' TERM; echo > " + signpost.path() +
                                        "; while :; do sleep 1000; done"));
    ASSERT_TRUE(signpost.is_reached());

    runner->cancel(running.id);
    auto outcome = running.outcome.get();

    EXPECT_TRUE(outcome.is_cancelled);
    EXPECT_FALSE(outcome.is_timed_out);
    EXPECT_EQ(outcome.signal, SIGKILL);
}

TEST(ProcessRunner, LetsACancelledChildCleanUp) {
    auto runner = runner_with({.grace = seconds{60}});
    auto signpost = Signpost{};
    auto running = start(*runner, shell("trap 'echo bye; exit 7' TERM; echo > " + signpost.path() +
                                        "; while :; do :; done"));
    ASSERT_TRUE(signpost.is_reached());

    runner->cancel(running.id);
    auto outcome = running.outcome.get();

    EXPECT_TRUE(outcome.is_cancelled);
    EXPECT_EQ(outcome.output, "bye\n");
    EXPECT_EQ(outcome.exit_code, 7);
}

TEST(ProcessRunner, CancellingWhatIsOverChangesNothing) {
    auto runner = runner_with();
    auto over = start(*runner, {.argv = {"true"}});
    EXPECT_EQ(over.outcome.get().exit_code, 0);

    runner->cancel(over.id);
    runner->cancel(ProcessId{12'345});

    EXPECT_EQ(run(*runner, {.argv = {"true"}}).exit_code, 0);
}

TEST(ProcessRunner, KillsDescendantsWithTheChild) {
    auto runner = runner_with({.grace = milliseconds{20}});
    auto signpost = Signpost{};
    auto script = "(trap '' TERM; echo; exec sleep 1000) > " + signpost.path() + " & wait";
    auto running = start(*runner, shell(script));
    ASSERT_TRUE(signpost.is_reached());

    runner->cancel(running.id);
    running.outcome.get();

    EXPECT_TRUE(signpost.is_abandoned());
}

TEST(ProcessRunner, DoesNotWaitForEverForADescendantThatHoldsTheOutput) {
    auto runner = runner_with({.grace = milliseconds{20}});

    auto outcome = run(*runner, shell("sleep 1000 & echo started"));

    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.output, "started\n");
}

TEST(ProcessRunner, GivesTheChildNoDescriptorOfOurs) {
    auto runner = runner_with();
    auto leaked = FileDescriptor{::open("/dev/null", O_RDONLY)};

    auto outcome = run(*runner, shell("ls /proc/$$/fd | tr '\\n' ' '"));

    EXPECT_EQ(outcome.output.substr(0, 6), "0 1 2 ");
    EXPECT_EQ(outcome.output.find(std::to_string(leaked.raw()) + " "), std::string::npos);
}

TEST(ProcessRunner, GivesTheChildDefaultSignals) {
    auto runner = runner_with();
    auto before = ::signal(SIGHUP, SIG_IGN);

    // The runner's thread blocks all signals, and this process ignores one of them.
    auto unblocked = run(*runner, shell("kill -TERM $$"));
    auto heeded = run(*runner, shell("kill -HUP $$"));
    ::signal(SIGHUP, before);

    EXPECT_EQ(unblocked.signal, SIGTERM);
    EXPECT_EQ(heeded.signal, SIGHUP);
}

TEST(ProcessRunner, KillsEverythingWhenDestroyed) {
    auto runner = runner_with();
    auto signpost = Signpost{};
    auto running = start(*runner, shell("exec > " + signpost.path() + "; echo; sleep 1000 & wait"));
    ASSERT_TRUE(signpost.is_reached());
    auto queued = start(*runner, {.argv = {"sleep", "1000"}});

    runner.reset();

    EXPECT_TRUE(running.outcome.get().is_cancelled);
    EXPECT_TRUE(queued.outcome.get().is_cancelled);
    EXPECT_TRUE(signpost.is_abandoned());
}

TEST(ProcessRunner, AnOutcomeMayStartTheNextCommand) {
    auto runner = runner_with();
    auto promise = std::promise<int>{};
    auto code = promise.get_future();

    runner->start({.argv = {"true"}}, [&](Outcome) {
        runner->start(shell("exit 5"), [&](Outcome next) { promise.set_value(next.exit_code); });
    });

    EXPECT_EQ(code.get(), 5);
}

/// Hears lines, and waits for them.
class HeardLines {
public:
    Listener listener() {
        return {.on_line = [this](std::string_view line) { keep(line); },
                .on_error_line = [this](std::string_view line) { keep("! " + std::string{line}); }};
    }
    std::string next() {
        auto lock = std::unique_lock{mutex_};
        changed_.wait(lock, [this] { return !lines_.empty(); });
        auto line = lines_.front();
        lines_.pop_front();
        return line;
    }

private:
    void keep(std::string_view line) {
        auto lock = std::lock_guard{mutex_};
        lines_.emplace_back(line);
        changed_.notify_one();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::string> lines_;
};

TEST(ProcessRunner, TalksWithAChildUntilItHangsUp) {
    auto lines = HeardLines{};
    auto ended = std::promise<Outcome>{};
    auto runner = runner_with();
    auto id = runner->converse({.argv = {"cat"}}, lines.listener(),
                               [&](Outcome outcome) { ended.set_value(std::move(outcome)); });

    runner->say(id, "one\ntw");
    EXPECT_EQ(lines.next(), "one");
    runner->say(id, "o\nthree\n");
    EXPECT_EQ(lines.next(), "two");
    EXPECT_EQ(lines.next(), "three");
    auto large = std::string(3'000'000, 'x');
    runner->say(id, large + "\n");
    EXPECT_TRUE(lines.next() == large);
    runner->hang_up(id);

    auto outcome = ended.get_future().get();
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_FALSE(outcome.is_timed_out);
}

TEST(ProcessRunner, TerminatesAChildThatGoesOnAfterTheHangUp) {
    auto lines = HeardLines{};
    auto ended = std::promise<Outcome>{};
    auto runner = runner_with({.grace = milliseconds{20}});
    auto id = runner->converse(shell("echo here; echo there >&2; sleep 1000"), lines.listener(),
                               [&](Outcome outcome) { ended.set_value(std::move(outcome)); });
    auto first = lines.next();
    auto second = lines.next();
    EXPECT_EQ(std::min(first, second), "! there");
    EXPECT_EQ(std::max(first, second), "here");

    runner->hang_up(id);

    auto outcome = ended.get_future().get();
    EXPECT_EQ(outcome.signal, SIGTERM);
    EXPECT_FALSE(outcome.is_timed_out);
}

TEST(ProcessRunner, EndsAChildThatUsesUpItsProcessorTime) {
    auto runner = runner_with();
    auto command = shell("while :; do :; done");
    command.resources.cpu_time = milliseconds{500};

    auto outcome = run(*runner, std::move(command));

    EXPECT_EQ(outcome.exceeded, Exceeded::CpuTime);
}

TEST(ProcessRunner, GivesAChildNoMoreMemoryThanItsLimit) {
    auto runner = runner_with();
    auto command = shell("read go; ulimit -v");
    command.input = "go\n";
    command.resources.memory_bytes = 256UL << 20U;

    EXPECT_EQ(run(*runner, std::move(command)).output, "262144\n");
}

} // namespace
} // namespace sluice::reactor

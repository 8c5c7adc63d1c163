#include "connector/process/answer.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace sluice::connector::process {
namespace {

using std::chrono::milliseconds;

reactor::Outcome outcome_with(std::string output, std::string errors = "", int exit_code = 0) {
    auto outcome = reactor::Outcome{};
    outcome.output = std::move(output);
    outcome.errors = std::move(errors);
    outcome.exit_code = exit_code;
    return outcome;
}

event::Answer answer_to(const reactor::Outcome& outcome) {
    return answer_of(outcome, "resize", milliseconds{250});
}

TEST(ProcessAnswer, IsTheJsonOfTheOutput) {
    auto answer = answer_to(outcome_with(" {\"a\": [1]}\r\n\n", "chatter"));

    EXPECT_TRUE(answer.is_success);
    EXPECT_EQ(answer.result, Value::object({{"a", Value::list({1})}}));
}

TEST(ProcessAnswer, IsNullWithoutOutput) {
    EXPECT_TRUE(answer_to(outcome_with("")).is_success);
    EXPECT_TRUE(answer_to(outcome_with(" \n")).result.is_null());
}

TEST(ProcessAnswer, ShowsOutputThatIsNoJson) {
    auto answer = answer_to(outcome_with("done\xFF!\n" + std::string(10'000, 'x'), "hm"));

    EXPECT_FALSE(answer.is_success);
    EXPECT_EQ(answer.error_kind, "bad_output");
    auto expected = std::string{"command resize wrote 'done\uFFFD!\n"} + std::string(73, 'x') +
                    "…', expected one JSON value: ";
    EXPECT_EQ(answer.error_message.substr(0, expected.size()), expected);
    EXPECT_EQ(*answer.error_detail.find("stderr"), Value{"hm"});
    EXPECT_LT(answer.error_detail.find("stdout")->size(), 5'000U);
}

TEST(ProcessAnswer, RefusesTwoJsonValues) {
    EXPECT_EQ(answer_to(outcome_with("1\n2\n")).error_kind, "bad_output");
}

TEST(ProcessAnswer, RefusesOutputThatWasCut) {
    auto outcome = outcome_with("123");
    outcome.is_output_cut = true;

    auto answer = answer_to(outcome);

    EXPECT_EQ(answer.error_kind, "bad_output");
    EXPECT_EQ(answer.error_message, "command resize wrote more than 3 bytes of output");
}

TEST(ProcessAnswer, HasExitCodeAndWhatWasWritten) {
    auto answer = answer_to(outcome_with("half", "no \xFF room", 3));

    EXPECT_FALSE(answer.is_success);
    EXPECT_EQ(answer.error_kind, "exit");
    EXPECT_EQ(answer.error_message, "command resize exited with 3");
    EXPECT_EQ(answer.error_detail,
              Value::object({{"exit_code", 3}, {"stderr", "no \uFFFD room"}, {"stdout", "half"}}));
}

TEST(ProcessAnswer, NamesTheSignal) {
    auto outcome = outcome_with("");
    outcome.signal = 9;

    auto answer = answer_to(outcome);

    EXPECT_EQ(answer.error_kind, "exit");
    EXPECT_EQ(answer.error_message, "command resize was ended by signal 9");
    EXPECT_EQ(*answer.error_detail.find("signal"), Value{9});
    EXPECT_EQ(answer.error_detail.find("exit_code"), nullptr);
}

TEST(ProcessAnswer, ATimeoutIsOneWhateverTheExitCode) {
    auto outcome = outcome_with("1");
    outcome.is_timed_out = true;

    auto answer = answer_to(outcome);

    EXPECT_EQ(answer.error_kind, "timeout");
    EXPECT_EQ(answer.error_message, "command resize was not done within 250ms");
}

TEST(ProcessAnswer, SaysWhyItCouldNotStart) {
    auto outcome = reactor::Outcome{};
    outcome.failure = Error{Errc::NotFound, "cannot start 'resize': no such program"};

    auto answer = answer_to(outcome);

    EXPECT_EQ(answer.error_kind, "spawn");
    EXPECT_EQ(answer.error_message, "cannot start 'resize': no such program");
}

TEST(ProcessAnswer, SaysWhichLimitWasExceeded) {
    auto outcome = reactor::Outcome{};
    outcome.signal = 24;
    outcome.exceeded = reactor::Exceeded::CpuTime;

    auto answer = answer_to(outcome);

    EXPECT_EQ(answer.error_kind, "limit");
    EXPECT_EQ(answer.error_message,
              "command resize was ended: it used more CPU time than its limit");
    outcome.exceeded = reactor::Exceeded::Memory;
    EXPECT_EQ(answer_of_worker(outcome, "resize", std::nullopt).error_message,
              "command resize was ended: it used more memory than its limit");
}

} // namespace
} // namespace sluice::connector::process

#include "connector/process/answer.h"

#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "value/json.h"
#include "value/time_text.h"

namespace sluice::connector::process {
namespace {

using event::Answer;
using event::failure;
using reactor::Outcome;

constexpr auto output_shown_bytes = std::size_t{4'096};
constexpr auto message_shown_bytes = std::size_t{80};

std::string_view trimmed(std::string_view text) {
    constexpr auto blank = std::string_view{" \t\r\n"};
    auto first = text.find_first_not_of(blank);
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::string beginning(std::string_view text, std::size_t size_max) {
    return replace_invalid_utf8(text.substr(0, size_max)) + (text.size() > size_max ? "…" : "");
}

Value detail_of(const Outcome& outcome) {
    auto how = outcome.signal != 0 ? value::Member{"signal", outcome.signal}
                                   : value::Member{"exit_code", outcome.exit_code};
    return Value::map({std::move(how),
                       {"stderr", replace_invalid_utf8(outcome.errors)},
                       {"stdout", beginning(outcome.output, output_shown_bytes)}});
}

std::string end_of(const Outcome& outcome, std::string_view program) {
    if (outcome.signal != 0) {
        return fmt::format("command {} was ended by signal {}", program, outcome.signal);
    }
    return fmt::format("command {} exited with {}", program, outcome.exit_code);
}

Answer limit_exceeded(const Outcome& outcome, std::string_view program) {
    return failure(
        "limit",
        fmt::format("command {} was ended: it used more {} than its limit", program,
                    outcome.exceeded == reactor::Exceeded::Memory ? "memory" : "CPU time"),
        detail_of(outcome));
}

Answer bad_output(const Outcome& outcome, std::string message) {
    return failure("bad_output", std::move(message), detail_of(outcome));
}

Answer result_of(const Outcome& outcome, std::string_view program) {
    if (outcome.is_output_cut) {
        return bad_output(outcome, fmt::format("command {} wrote more than {} bytes of output",
                                               program, outcome.output.size()));
    }
    auto answer = Answer{};
    auto output = trimmed(outcome.output);
    if (output.empty()) {
        return answer;
    }
    auto parsed = value::parse_json(output);
    if (!parsed) {
        return bad_output(
            outcome, fmt::format("command {} wrote '{}', expected one JSON value: {}", program,
                                 beginning(output, message_shown_bytes), parsed.error().message));
    }
    answer.result = *std::move(parsed);
    return answer;
}

} // namespace

Answer answer_of(const Outcome& outcome, std::string_view program, Nanos timeout) {
    if (outcome.failure) {
        return failure("spawn", outcome.failure->message);
    }
    if (outcome.is_cancelled) {
        return failure("cancelled", fmt::format("command {} was cancelled", program),
                       detail_of(outcome));
    }
    if (outcome.is_timed_out) {
        return failure("timeout",
                       fmt::format("command {} was not done within {}", program,
                                   value::format_duration(timeout)),
                       detail_of(outcome));
    }
    if (outcome.exceeded != reactor::Exceeded::Nothing) {
        return limit_exceeded(outcome, program);
    }
    if (outcome.signal != 0 || outcome.exit_code != 0) {
        return failure("exit", end_of(outcome, program), detail_of(outcome));
    }
    return result_of(outcome, program);
}

Answer answer_of_worker(const Outcome& outcome, std::string_view program,
                        std::optional<Answer> verdict) {
    if (outcome.failure) {
        return failure("spawn", outcome.failure->message);
    }
    if (verdict) {
        verdict->error_detail = detail_of(outcome);
        return *std::move(verdict);
    }
    if (outcome.is_output_cut) {
        return bad_output(outcome, fmt::format("worker {} wrote a line that is too long", program));
    }
    if (outcome.exceeded != reactor::Exceeded::Nothing) {
        return limit_exceeded(outcome, program);
    }
    if (outcome.is_cancelled) {
        return failure("cancelled", fmt::format("worker {} was ended", program),
                       detail_of(outcome));
    }
    return failure("exit", end_of(outcome, program) + " before it answered", detail_of(outcome));
}

} // namespace sluice::connector::process

#include "trial/internal/judgement.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "value/time_text.h"
#include "value/wording.h"

namespace sluice::trial::internal {

namespace {

using value::text_at;

constexpr auto causes_max = std::size_t{10};

const Value& part(const Value& map, std::string_view name) {
    static const auto nothing = Value{};
    const auto* found = map.find(name);
    return found == nullptr ? nothing : *found;
}

class Judge {
public:
    Judge(const Expected& expected, const Outcome& outcome, std::vector<Difference>& out)
        : expected_(expected), outcome_(outcome), out_(out) {}

    void judge() {
        judge_ending();
        for (const auto& calls : expected_.calls) {
            judge_calls(calls, outcome_.calls,
                        {.path = "calls", .noun = "calls", .each = "inputs"});
        }
        for (const auto& sent : expected_.sent) {
            judge_calls(sent, outcome_.sent, {.path = "sent", .noun = "events", .each = "events"});
        }
        judge_order();
        judge_tasks();
        judge_duration();
    }

private:
    void report(std::string path, std::string message, Value expected, Value got) {
        out_.push_back({.path = std::move(path),
                        .message = std::move(message),
                        .expected = std::move(expected),
                        .got = std::move(got)});
    }

    void judge_ending() {
        const auto& error = part(outcome_.ending, "error");
        auto status = text_at(outcome_.ending, "status");
        if (status != expected_.status) {
            auto why = error.is_null() ? "" : ": " + value::describe_error(error);
            report("status", fmt::format("expected {}, got {}{}", expected_.status, status, why),
                   expected_.status, status);
        }
        const auto& result = part(outcome_.ending, "result");
        if (expected_.result) {
            compare(*expected_.result, result, Match::Whole, "result", out_);
        }
        if (expected_.result_has) {
            compare(*expected_.result_has, result, Match::Subset, "result", out_);
        }
        if (expected_.error && !error.is_null()) {
            compare(*expected_.error, error, Match::Subset, "error", out_);
        }
        if (expected_.error_kind && !error.is_null()) {
            judge_kind(error);
        }
    }

    /// An error of a run often only says which task failed: why, its cause does.
    void judge_kind(const Value& error) {
        auto kinds = std::vector<std::string>{};
        for (const auto* each = &error; each != nullptr && kinds.size() < causes_max;
             each = each->find("cause")) {
            kinds.push_back(text_at(*each, "kind"));
        }
        if (std::ranges::find(kinds, *expected_.error_kind) == kinds.end()) {
            report("error",
                   fmt::format("expected the kind {}, got {}", *expected_.error_kind,
                               fmt::join(kinds, " because of ")),
                   *expected_.error_kind, error);
        }
    }

    static bool is_named(const MadeCall& call, std::string_view name) {
        return call.function == name || call.task == name;
    }

    struct Words {
        std::string_view path;
        std::string_view noun;
        std::string_view each;
    };

    void judge_calls(const ExpectedCalls& expected, const std::vector<MadeCall>& made,
                     const Words& words) {
        auto path = fmt::format("{}/{}", words.path, expected.name);
        auto inputs = std::vector<Value>{};
        for (const auto& call : made) {
            if (is_named(call, expected.name)) {
                inputs.push_back(call.input);
            }
        }
        if (expected.count && *expected.count != inputs.size()) {
            report(
                path,
                fmt::format("expected {} {}, got {}", *expected.count, words.noun, inputs.size()),
                value::number(*expected.count), value::number(inputs.size()));
        }
        if (expected.inputs) {
            compare(*expected.inputs, Value::list(std::move(inputs)), Match::Subset,
                    fmt::format("{}/{}", path, words.each), out_);
        }
    }

    /// What is expected may have other calls between.
    void judge_order() {
        auto next = expected_.order.begin();
        for (const auto& call : outcome_.calls) {
            if (next != expected_.order.end() && is_named(call, *next)) {
                ++next;
            }
        }
        if (next == expected_.order.end()) {
            return;
        }
        auto made = std::vector<std::string>{};
        for (const auto& call : outcome_.calls) {
            made.push_back(call.task.empty() ? call.function : call.task);
        }
        constexpr auto shown_max = std::size_t{20};
        auto got = value::texts(made);
        auto is_cut = made.size() > shown_max;
        made.resize(std::min(made.size(), shown_max));
        report("order",
               fmt::format("expected {}, but {} was not called behind those before it; the calls "
                           "were {}{}",
                           fmt::join(expected_.order, ", "), *next,
                           made.empty() ? "none" : fmt::format("{}", fmt::join(made, ", ")),
                           is_cut ? ", …" : ""),
               value::texts(expected_.order), std::move(got));
    }

    /// States of a task or trigger by its place: `tiles/17/load` is `tiles.load` in that scope.
    const Value* find_state(const std::string& place) const {
        auto slash = place.rfind('/');
        auto scope = slash == std::string::npos ? std::string{} : place.substr(0, slash);
        auto name = slash == std::string::npos ? place : place.substr(slash + 1);
        for (const auto& each : items(outcome_.triggers)) {
            auto id = text_at(part(each, "trigger"), "id");
            if (scope.empty() ? id != name : !id.ends_with("." + name)) {
                continue;
            }
            for (const auto& state : items(part(each, "states"))) {
                if (text_at(state, "scope") == scope) {
                    return &state;
                }
            }
        }
        return nullptr;
    }

    static std::span<const Value> items(const Value& list) {
        return list.is_list() ? list.as_list() : std::span<const Value>{};
    }

    void judge_tasks() {
        for (const auto& [place, status] : expected_.tasks) {
            const auto* state = find_state(place);
            auto got = state == nullptr ? "" : text_at(part(*state, "memory"), "status");
            got = got.empty() ? "pending" : got;
            if (got != status) {
                const auto& error = state == nullptr ? Value{} : part(*state, "memory");
                auto why = error.find("error") == nullptr
                               ? ""
                               : ": " + value::describe_error(*error.find("error"));
                report(fmt::format("tasks/{}", place),
                       fmt::format("expected {}, got {}{}", status, got, why), status, got);
            }
        }
        for (const auto& [id, count] : expected_.fired) {
            const auto* state = find_state(id);
            const auto& fired = state == nullptr ? Value{} : part(*state, "fired");
            auto got = fired.is_int() ? static_cast<std::uint64_t>(fired.as_int()) : 0;
            if (got != count) {
                report(fmt::format("fired/{}", id),
                       fmt::format("expected {} times, got {}", count, got), value::number(count),
                       value::number(got));
            }
        }
    }

    void judge_duration() {
        auto say = [&](std::string_view bound, Nanos wanted) {
            report("duration",
                   fmt::format("expected {}{}, got {}", bound, value::format_duration(wanted),
                               value::format_duration(outcome_.duration)),
                   value::format_duration(wanted), value::format_duration(outcome_.duration));
        };
        if (expected_.duration && *expected_.duration != outcome_.duration) {
            say("", *expected_.duration);
        }
        if (expected_.at_least && *expected_.at_least > outcome_.duration) {
            say("at least ", *expected_.at_least);
        }
        if (expected_.at_most && *expected_.at_most < outcome_.duration) {
            say("at most ", *expected_.at_most);
        }
    }

    const Expected& expected_;
    const Outcome& outcome_;
    std::vector<Difference>& out_;
};

} // namespace

void judge(const Expected& expected, const Outcome& outcome, std::vector<Difference>& out) {
    Judge{expected, outcome, out}.judge();
}

} // namespace sluice::trial::internal

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/base64.h"
#include "expr/program.h"
#include "expr/states/digest.h"
#include "workflow/asl/internal/run/walk.h"
#include "workflow/asl/internal/run/words.h"

// Tasks that somebody else answers or tells of, by a token or by their key.
namespace sluice::workflow::asl::internal::run {

namespace {

/// A digest that needs the key to be made. Hashed twice, so that nothing can be added to the text.
std::string sealed(const std::string& key, const std::string& text) {
    auto hash = [&](const std::string& part) {
        return expr::states::hex_digest(key + part, "SHA-256").value_or("");
    };
    return hash(hash(text));
}

/// How long comparing takes does not tell how much of it is right.
bool is_same_token(std::string_view left, std::string_view right) {
    auto difference = left.size() ^ right.size();
    for (auto at = std::size_t{0}; at < std::min(left.size(), right.size()); ++at) {
        difference |= static_cast<unsigned char>(left[at]) ^ static_cast<unsigned char>(right[at]);
    }
    return difference == 0;
}

std::unexpected<expr::Fault> nobody() {
    return std::unexpected(expr::Fault{.code = "task_timed_out",
                                       .message = "no task waits for an answer to this token"});
}

/// The scope and the state that a token of this run names.
std::optional<std::pair<trigger::Incarnation, std::uint64_t>> place_in(std::string_view token,
                                                                       std::string_view run) {
    auto text = base64_decode(token);
    auto parts = std::array<std::string_view, 3>{};
    auto rest = text ? std::string_view{*text} : std::string_view{};
    for (auto& part : parts) {
        part = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    }
    auto number = [](std::string_view digits) {
        auto count = std::uint64_t{0};
        for (auto digit : digits.substr(0, 18)) {
            count = count * 10 + static_cast<std::uint64_t>(digit - '0') % 10;
        }
        return count;
    };
    return parts[0] != run
               ? std::nullopt
               : std::optional{std::pair{trigger::Incarnation{number(parts[1])}, number(parts[2])}};
}

/// What somebody waits for: a token, or the worker of an activity.
std::string_view status_of(const Visit& visit) {
    return visit.token.empty() ? words::running : words::waiting;
}

} // namespace

/// Names the run, the scope, the state and the attempt that somebody else is to answer. Nobody who
/// was not given it can make it, and deciding again gives the same.
std::string Walk::token_of(const Visit& visit) const {
    auto text = fmt::format("{}\n{}\n{}\n{}\n{}\n", state().id, visit.frame.scope->raw(),
                            visit.number, visit.entered, visit.retries);
    auto started = state().info.started.time_since_epoch().count();
    return base64_encode(text + sealed(program_.token_key, fmt::format("{}{}", text, started)));
}

std::optional<Visit> Walk::visit_at(trigger::Incarnation scope, StateNumber number) {
    const auto& memory = memory_of(scope, trigger::TriggerNumber{number});
    if (!memory.is_map()) {
        return std::nullopt;
    }
    auto& frame = load_frame(scope, machine().states[number].flow);
    auto visit = std::optional<Visit>{std::in_place, machine(), number, frame};
    visit->restore(memory);
    return visit;
}

std::optional<Visit> Walk::holder_of(const Value& params) {
    if (const auto* key = params.find("task")) {
        auto task = state().tasks.find({.fire = trigger::FireNumber{count_at(*key, "fire")},
                                        .index = count_at(*key, "index")});
        return task == state().tasks.end()
                   ? std::nullopt
                   : visit_at(task->second.scope, task->second.trigger.raw());
    }
    auto token = text_in(params, "token").value_or("");
    auto place = place_in(token, state().id);
    if (!place || place->second >= machine().states.size() ||
        state().path_of(place->first) == nullptr) {
        return std::nullopt;
    }
    auto visit = visit_at(place->first, static_cast<StateNumber>(place->second));
    return visit && is_same_token(visit->token, token) ? std::move(visit) : std::nullopt;
}

trigger::Attempt<void> Walk::answer(const Value& params) {
    auto visit = holder_of(params);
    if (!visit) {
        return nobody();
    }
    auto outcome = TaskOutcome{.is_final = true};
    if (const auto* output = params.find("output")) {
        outcome.result = *output;
    } else {
        outcome.failure =
            Failure{.error = text_in(params, "error"), .cause = text_in(params, "cause")};
    }
    conclude(&visit->frame, take_outcome(*visit, outcome));
    finish();
    return {};
}

void Walk::renew_pulse(Visit& visit) {
    if (visit.pulse > 0) {
        firing_.decider().remove_timer(trigger::TimerNumber{visit.pulse});
        visit.pulse = set_timer(visit, std::chrono::seconds{visit.seconds}, words::heartbeat).raw();
    }
}

trigger::Attempt<void> Walk::note_heartbeat(const Value& params) {
    auto visit = holder_of(params);
    if (!visit) {
        return nobody();
    }
    if (visit->pulse > 0) {
        renew_pulse(*visit);
        store(*visit, status_of(*visit));
    }
    return {};
}

trigger::Attempt<void> Walk::note_begin(const Value& params) {
    auto visit = holder_of(params);
    if (!visit) {
        return nobody();
    }
    begin_work(*visit, text_in(params, "worker").value_or(""));
    renew_pulse(*visit);
    store(*visit, status_of(*visit));
    finish();
    return {};
}

} // namespace sluice::workflow::asl::internal::run

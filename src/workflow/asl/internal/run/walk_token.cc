#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/base64.h"
#include "expr/program.h"
#include "expr/states/digest.h"
#include "value/wording.h"
#include "workflow/asl/internal/run/walk.h"
#include "workflow/asl/internal/run/words.h"

// Tasks that somebody else answers, by a token.
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

std::optional<std::string> given_text(const Value& params, std::string_view name) {
    const auto* found = params.find(name);
    return found != nullptr && found->is_string() ? std::optional{std::string{found->as_string()}}
                                                  : std::nullopt;
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

std::optional<Visit> Walk::holder_of(std::string_view token) {
    auto text = base64_decode(token);
    auto parts = std::array<std::string_view, 4>{};
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
    auto scope = trigger::Incarnation{number(parts[1])};
    auto state_number = number(parts[2]);
    if (parts[0] != state().id || state_number >= machine().states.size() ||
        state().path_of(scope) == nullptr) {
        return std::nullopt;
    }
    const auto& memory =
        memory_of(scope, trigger::TriggerNumber{static_cast<std::uint32_t>(state_number)});
    const auto* held = memory.find("token");
    if (held == nullptr || !held->is_string() || !is_same_token(held->as_string(), token)) {
        return std::nullopt;
    }
    auto& frame = load_frame(scope, machine().states[state_number].flow);
    auto visit = std::optional<Visit>{std::in_place, machine(),
                                      static_cast<StateNumber>(state_number), frame};
    visit->restore(memory);
    return visit;
}

trigger::Attempt<void> Walk::answer(const Value& params) {
    auto visit = holder_of(value::text_at(params, "token"));
    if (!visit) {
        return nobody();
    }
    auto outcome = TaskOutcome{.is_final = true};
    if (const auto* output = params.find("output")) {
        outcome.result = *output;
    } else {
        outcome.failure =
            Failure{.error = given_text(params, "error"), .cause = given_text(params, "cause")};
    }
    conclude(&visit->frame, take_outcome(*visit, outcome));
    finish();
    return {};
}

trigger::Attempt<void> Walk::note_heartbeat(const Value& params) {
    auto visit = holder_of(value::text_at(params, "token"));
    if (!visit) {
        return nobody();
    }
    if (visit->pulse > 0) {
        firing_.decider().remove_timer(trigger::TimerNumber{visit->pulse});
        visit->pulse =
            set_timer(*visit, std::chrono::seconds{visit->seconds}, words::heartbeat).raw();
        store(*visit, words::waiting);
    }
    return {};
}

} // namespace sluice::workflow::asl::internal::run

#include "trial/internal/mocked_cast.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "trial/difference.h"
#include "trigger/form_reader.h"
#include "value/time_text.h"
#include "value/wording.h"

namespace sluice::trial::internal {

namespace {

/// A name as YAML takes it for a key.
std::string as_key(const std::string& name) {
    auto is_plain = std::ranges::all_of(name, [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               (letter >= '0' && letter <= '9') || letter == '_' || letter == '-' || letter == '.';
    });
    return is_plain ? name : trigger::in_quotes(name);
}

} // namespace

MockedCast::MockedCast(const Case& tried, const std::vector<workflow::raw::FunctionForm>& declared,
                       reactor::VirtualTime& time)
    : case_(tried), time_(time), builtin_(time) {
    for (const auto& form : declared) {
        declared_.emplace(form.name, &form);
    }
}

engine::Function MockedCast::function(const std::string& name) {
    auto function = engine::Function{.sink = this};
    if (auto form = declared_.find(name); form != declared_.end()) {
        function.concurrency = form->second->concurrency;
        engine::apply_policy(form->second->policy, function);
    }
    return function;
}

void MockedCast::note(const engine::Call& call) {
    auto key = engine::Dispatcher::key_of(call.run, call.key);
    if (call.task.kind == trigger::TaskKind::Sink) {
        to_sinks_.insert(key);
    }
    tasks_.insert_or_assign(std::move(key), call.task.subject);
}

/// A sink takes what it is sent, unless the case says otherwise.
void MockedCast::take_event(event::Delivery delivery, Done done) {
    if (delivery.attempt == 1) {
        sent_.push_back(
            {.function = delivery.target, .task = {}, .attempt = 1, .input = delivery.payload});
    }
    if (const auto* reply = find_reply(delivery, delivery.target)) {
        answer(*reply, std::move(delivery), std::move(done));
    } else {
        done({});
    }
}

void MockedCast::deliver(event::Delivery delivery, Done done) {
    if (to_sinks_.contains(delivery.key)) {
        take_event(std::move(delivery), std::move(done));
        return;
    }
    auto task = tasks_[delivery.key];
    calls_.push_back({.function = delivery.target,
                      .task = task,
                      .attempt = delivery.attempt,
                      .input = delivery.payload});
    if (const auto* reply = find_reply(delivery, task)) {
        answer(*reply, std::move(delivery), std::move(done));
    } else if (auto builtin = builtin_of(delivery.target); !builtin.empty()) {
        delivery.target = builtin;
        builtin_.deliver(std::move(delivery), std::move(done));
    } else {
        report_missing(delivery, task);
        done(event::failure("not_mocked", "the test has no reply for this call"));
    }
}

const Reply* MockedCast::find_reply(const event::Delivery& delivery, const std::string& task) {
    if (auto begun = of_attempts_.find(delivery.key); begun != of_attempts_.end()) {
        return begun->second;
    }
    const auto* found = static_cast<const Reply*>(nullptr);
    if (auto replies = case_.tasks.find(task); replies != case_.tasks.end()) {
        found = choose(replies->second, delivery.payload);
    }
    if (auto replies = case_.functions.find(delivery.target);
        found == nullptr && replies != case_.functions.end()) {
        found = choose(replies->second, delivery.payload);
    }
    if (found != nullptr && found->kind == Reply::Kind::Attempts) {
        of_attempts_.emplace(delivery.key, found);
    }
    return found;
}

/// Those that are for this input in particular go before those that are for any.
const Reply* MockedCast::choose(const std::vector<Reply>& replies, const Value& input) {
    const auto* last = static_cast<const Reply*>(nullptr);
    for (auto is_particular : {true, false}) {
        for (const auto& reply : replies) {
            auto is_meant = is_particular ? reply.when && matches(*reply.when, input, Match::Subset)
                                          : !reply.when;
            if (is_meant && (last == nullptr || given_[last] > 0)) {
                last = &reply;
            }
        }
        if (last != nullptr) {
            ++given_[last];
            return last;
        }
    }
    return nullptr;
}

void MockedCast::answer(const Reply& reply, event::Delivery delivery, Done done) {
    if (reply.kind == Reply::Kind::Attempts) {
        auto at = std::min<std::size_t>(delivery.attempt, reply.attempts.size()) - 1;
        answer(reply.attempts[at], std::move(delivery), std::move(done));
        return;
    }
    auto is_late = reply.kind == Reply::Kind::Never || reply.delay > delivery.timeout;
    if (delivery.timeout > Nanos{0} && is_late) {
        auto message = fmt::format("no answer within {}", value::format_duration(delivery.timeout));
        answer_later(delivery.token, delivery.timeout, event::failure("timeout", message),
                     std::move(done));
    } else if (reply.kind == Reply::Kind::Never) {
        pending_.insert_or_assign(delivery.token, Pending{.timer = {}, .done = std::move(done)});
    } else if (reply.delay > Nanos{0}) {
        answer_later(delivery.token, reply.delay, reply.answer, std::move(done));
    } else {
        done(reply.answer);
    }
}

void MockedCast::answer_later(const std::string& token, Nanos delay, event::Answer answer,
                              Done done) {
    auto timer = time_.after(delay, [this, token, answer = std::move(answer)]() mutable {
        if (auto found = pending_.extract(token)) {
            found.mapped().done(std::move(answer));
        }
    });
    pending_.insert_or_assign(token, Pending{.timer = timer, .done = std::move(done)});
}

void MockedCast::cancel(std::string_view token) {
    builtin_.cancel(token);
    if (auto found = pending_.find(token); found != pending_.end()) {
        auto cancelled = std::move(found->second);
        pending_.erase(found);
        time_.cancel(cancelled.timer);
        cancelled.done(event::failure("cancelled", "nobody waits for it any more"));
    }
}

std::string MockedCast::builtin_of(const std::string& function) const {
    auto form = declared_.find(function);
    if (form == declared_.end()) {
        return workflow::raw::is_builtin(function) ? function : std::string{};
    }
    auto is_builtin = form->second->kind == workflow::raw::FunctionKind::Builtin;
    return is_builtin ? form->second->builtin : std::string{};
}

void MockedCast::report_missing(const event::Delivery& delivery, const std::string& task) {
    if (missing_) {
        return;
    }
    auto is_mocked = case_.functions.contains(delivery.target) || case_.tasks.contains(task);
    auto by = task.empty() || task == delivery.target ? "" : fmt::format(" by task {}", task);
    auto input = value::brief(delivery.payload, 200);
    // A script or a request goes by a name of ours, which is the task's own.
    auto is_own = delivery.target.ends_with(":" + task);
    auto what = is_mocked
                    ? "which no reply is for: write one without `when`, or with one that this "
                      "input has"
                : is_own ? fmt::format(
                               "and is not mocked: write `tasks: {{{}: {{result: …}}}}` in "
                               "the case",
                               as_key(task))
                         : fmt::format(
                               "and is not mocked: write `functions: {{{}: {{result: …}}}}` in "
                               "the case",
                               as_key(delivery.target));
    missing_ =
        fmt::format("function {} was called{} with {}{} {}", trigger::in_quotes(delivery.target),
                    by, input, is_mocked ? "," : "", what);
}

} // namespace sluice::trial::internal

#include <utility>

#include "engine/dispatcher.h"

// How a dispatcher keeps large values out of what is stored with runs.
namespace sluice::engine {

namespace {

event::Answer unfilled(const Error& error) {
    auto kind = error.code == Errc::NotFound        ? "object_missing"
                : error.code == Errc::Corrupt       ? "object_damaged"
                : error.code == Errc::LimitExceeded ? "input_too_large"
                                                    : "object_unreadable";
    return event::failure(kind,
                          "its input has a result that is kept by reference: " + error.message);
}

} // namespace

/// The slot stays as long as the call is active.
void Dispatcher::load_input(const Slot& slot, Call call) {
    {
        auto lock = std::lock_guard{mutex_};
        find_active(call.id())->is_loading = true;
    }
    services_.aside([this, &slot, call = std::move(call)]() mutable {
        auto input =
            services_.references->fill(call.run, call.task.input, References::call_bytes_max);
        auto is_wanted = true;
        {
            auto lock = std::lock_guard{mutex_};
            auto* active = find_active(call.id());
            active->is_loading = false;
            is_wanted = !active->is_settled;
        }
        if (!is_wanted || !input) {
            finish(std::move(call), is_wanted ? unfilled(input.error()) : event::Answer{});
            return;
        }
        deliver(slot, std::move(call), *std::move(input));
    });
}

void Dispatcher::keep_large(const AttemptId& attempt, Value result,
                            std::move_only_function<void(Value)> done) {
    auto policy = Value{};
    {
        auto lock = std::lock_guard{mutex_};
        const auto* active = find_active(attempt);
        policy = active == nullptr ? Value{} : active->policy;
    }
    keep_large(policy, attempt.run, std::move(result), std::move(done));
}

void Dispatcher::keep_large(const Value& policy, const RunName& run, Value result,
                            std::move_only_function<void(Value)> done) {
    if (services_.references == nullptr || !may_be_kept(policy, run) ||
        !is_larger_than(result, services_.result_bytes_max)) {
        done(std::move(result));
        return;
    }
    services_.aside([this, run, result = std::move(result), done = std::move(done)]() mutable {
        // What cannot be put aside goes with the answer: the store knows what to do without room.
        auto reference = services_.references->put(run, result);
        done(reference ? *std::move(reference) : std::move(result));
    });
}

} // namespace sluice::engine

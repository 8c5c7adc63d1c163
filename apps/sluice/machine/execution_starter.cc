#include "sluice/machine/execution_starter.h"

#include <fmt/format.h>

#include "base/fingerprint.h"
#include "sluice/output.h"
#include "workflow/asl/resource_names.h"

namespace sluice::app {

namespace {

namespace asl = workflow::asl;

// By which a start that comes again after a crash is known.
constexpr auto key_label = std::string_view{"aws.started_by"};

std::string name_of(const event::Delivery& delivery) {
    auto given = text_at(delivery.payload, "name");
    auto print = fingerprint(delivery.space, delivery.key);
    return given.empty() ? fmt::format("{:016x}{:016x}", print.high, print.low) : given;
}

event::Answer started_as(const event::Delivery& delivery, Time at) {
    return {.result = Value::object({{"machine", text_at(delivery.payload, "machine")},
                                     {"name", name_of(delivery)},
                                     {"started", Value{at}}})};
}

event::Answer refusal(std::string_view error, std::string_view message, const std::string& what) {
    return event::failure(fmt::format("StepFunctions.{}Exception", error),
                          fmt::format("{}: '{}' (Service: Sfn, Status Code: 400)", message, what));
}

/// When one that was there began, if it is the same that is meant; null: another has its name.
Value start_of(const event::Delivery& delivery, const trigger::RunState* state) {
    const auto* key = state == nullptr ? nullptr : state->info.labels.find(key_label);
    auto is_same = key != nullptr && *key == Value{delivery.key};
    auto is_like = state != nullptr && !state->has_ended() &&
                   state->info.input == *delivery.payload.find("input");
    return is_same || is_like ? Value{state->info.started} : Value{};
}

} // namespace

void ExecutionStarter::attach(engine::Engine& engine) {
    auto waiting = decltype(waiting_){};
    {
        auto lock = std::lock_guard{mutex_};
        engine_ = &engine;
        waiting = std::exchange(waiting_, {});
    }
    for (auto& [delivery, done] : waiting) {
        start(delivery, std::move(done));
    }
}

void ExecutionStarter::deliver(event::Delivery delivery, Done done) {
    {
        auto lock = std::lock_guard{mutex_};
        if (engine_ == nullptr) {
            waiting_.emplace_back(std::move(delivery), std::move(done));
            return;
        }
    }
    start(delivery, std::move(done));
}

void ExecutionStarter::start(const event::Delivery& delivery, Done done) {
    auto machine = text_at(delivery.payload, "machine");
    auto id = asl::execution_run(machine, name_of(delivery));
    auto target = text_at(delivery.payload, "target");
    target = target.empty() ? machine : target;
    auto meaning = engine_->catalog().meaning(delivery.space, target, id);
    if (!meaning) {
        done(refusal("StateMachineDoesNotExist", "State Machine Does Not Exist", target));
        return;
    }
    auto labels = meaning->labels.with(key_label, delivery.key);
    if (!trigger::is_given_run_id(id)) {
        done(refusal("InvalidName", "Invalid Name", name_of(delivery)));
        return;
    }
    auto request =
        engine::StartRequest{.space = delivery.space,
                             .id = id,
                             .definition = machine,
                             .version = target == machine ? std::string{} : meaning->hash,
                             .input = *delivery.payload.find("input"),
                             .labels = std::move(labels)};
    engine_->start(request, [this, delivery, id,
                             done = std::move(done)](const Result<Value>& started) mutable {
        if (!started) {
            done(event::failure("StepFunctions.SfnException", started.error().message));
        } else if (started->find("existing") == nullptr ||
                   *started->find("existing") != Value{true}) {
            done(started_as(delivery, clock_.wall()));
        } else {
            engine_->query(
                {.space = delivery.space, .id = id},
                [delivery](const trigger::RunState* state) -> Result<Value> {
                    return start_of(delivery, state);
                },
                [delivery, done = std::move(done)](const Result<Value>& began) mutable {
                    done(began && began->is_timestamp()
                             ? started_as(delivery, began->as_timestamp())
                             : refusal("ExecutionAlreadyExists", "Execution Already Exists",
                                       name_of(delivery)));
                });
        }
    });
}

} // namespace sluice::app

#include "sluice/serve/task_functions.h"

#include <utility>

#include <fmt/format.h>

#include "sluice/languages.h"

namespace sluice::app {

namespace {

using workflow::raw::FunctionKind;

/// Keeps a sink's owner, whoever that is.
std::shared_ptr<event::Sink> sink_of(const engine::Function& function) {
    return function.owner ? function.owner
                          : std::shared_ptr<event::Sink>{std::shared_ptr<void>{}, function.sink};
}

event::Answer answer_of(const Error& error) {
    return event::failure(error.code == Errc::NotFound ? "unknown_function" : "unavailable",
                          error.message);
}

} // namespace

void TaskFunctions::attach(engine::Engine& engine) {
    auto lock = std::unique_lock{mutex_};
    engine_ = &engine;
    auto early = std::exchange(early_, {});
    lock.unlock();
    for (const auto& call : early) {
        find_definition(call);
    }
}

void TaskFunctions::deliver(event::Delivery delivery, Done done) {
    auto call = std::make_shared<Call>(std::move(delivery), std::move(done));
    auto lock = std::unique_lock{mutex_};
    calls_.insert_or_assign(call->delivery.token, nullptr);
    if (engine_ == nullptr) {
        early_.push_back(std::move(call));
        return;
    }
    lock.unlock();
    find_definition(call);
}

void TaskFunctions::find_definition(const CallRef& call) {
    auto run = engine::RunName{.space = call->delivery.space, .id = call->delivery.run};
    auto read = [](const trigger::RunState* state) -> Result<Value> {
        return Value{state == nullptr ? std::string{} : state->info.set};
    };
    engine_->query(run, read, [self = shared_from_this(), call](const Result<Value>& set) {
        if (set) {
            self->call_of(std::string{set->as_string()}, call);
        } else {
            self->deliver_to(std::unexpected(set.error()), *call);
        }
    });
}

void TaskFunctions::call_of(const std::string& definition, const CallRef& call) {
    auto lock = std::unique_lock{mutex_};
    if (auto loaded = loaded_.find(definition); loaded != loaded_.end()) {
        auto sink = find(loaded->second, call->delivery.target);
        lock.unlock();
        deliver_to(sink, *call);
        return;
    }
    auto& waiting = waiting_[definition];
    waiting.push_back(call);
    if (waiting.size() == 1 && !loader_.try_post([this, definition] { load(definition); })) {
        waiting_.erase(definition);
        lock.unlock();
        deliver_to(fail(Errc::Unavailable, "too many definitions wait to be read"), *call);
    }
}

void TaskFunctions::load(const std::string& definition) {
    auto loaded = read(definition);
    auto lock = std::unique_lock{mutex_};
    auto waiting = std::move(waiting_.extract(definition).mapped());
    if (loaded) {
        loaded_.emplace(definition, *loaded);
    }
    lock.unlock();
    for (const auto& call : waiting) {
        deliver_to(loaded ? find(*loaded, call->delivery.target)
                          : Result<std::shared_ptr<event::Sink>>{std::unexpected(loaded.error())},
                   *call);
    }
}

Result<TaskFunctions::ByName> TaskFunctions::read(const std::string& definition) const {
    auto by_name = ByName{};
    if (definition.empty()) {
        return by_name;
    }
    auto stored = TRY(engine_->catalog().definition(definition));
    auto document = parse_document(stored.source, stored.name);
    if (!document) {
        return by_name;
    }
    for (auto& form : task_functions_of(*document, stored.name)) {
        auto is_allowed = form.kind != FunctionKind::Process || limits_.allows_process;
        form.is_private = limits_.allows_private;
        auto sink = std::shared_ptr<event::Sink>{};
        if (is_allowed) {
            auto made = TRY(functions_.make(form));
            sink = sink_of(made);
        }
        by_name.try_emplace(form.name, std::move(sink));
    }
    return by_name;
}

Result<std::shared_ptr<event::Sink>> TaskFunctions::find(const ByName& loaded,
                                                         std::string_view function) {
    auto sink = loaded.find(function);
    if (sink == loaded.end()) {
        return fail(Errc::NotFound, "there is no function \"{}\"", function);
    }
    if (!sink->second) {
        return fail(Errc::NotFound,
                    "there is no function \"{}\": this server runs scripts of definitions only "
                    "with the setting allow_process",
                    function);
    }
    return sink->second;
}

void TaskFunctions::deliver_to(const Result<std::shared_ptr<event::Sink>>& sink, Call& call) {
    auto token = call.delivery.token;
    auto lock = std::unique_lock{mutex_};
    auto found = calls_.find(token);
    auto is_wanted = found != calls_.end();
    if (sink && is_wanted) {
        found->second = *sink;
    } else if (is_wanted) {
        calls_.erase(found);
    }
    lock.unlock();
    if (!sink || !is_wanted) {
        call.done(is_wanted ? answer_of(sink.error())
                            : event::failure("cancelled", "the call was cancelled"));
        return;
    }
    auto finish = [self = shared_from_this(), token,
                   done = std::move(call.done)](event::Answer answer) mutable {
        {
            auto ended = std::lock_guard{self->mutex_};
            self->calls_.erase(token);
        }
        done(std::move(answer));
    };
    (*sink)->deliver(std::move(call.delivery), std::move(finish));
}

void TaskFunctions::cancel(std::string_view token) {
    auto lock = std::unique_lock{mutex_};
    auto found = calls_.find(token);
    if (found == calls_.end()) {
        return;
    }
    auto sink = found->second;
    if (!sink) {
        calls_.erase(found); // Whoever looks for its function answers it.
        return;
    }
    lock.unlock();
    sink->cancel(token);
}

bool TaskFunctions::heartbeat(std::string_view token, std::uint64_t lease) {
    auto lock = std::unique_lock{mutex_};
    auto found = calls_.find(token);
    auto sink = found == calls_.end() ? nullptr : found->second;
    lock.unlock();
    return sink && sink->heartbeat(token, lease);
}

} // namespace sluice::app

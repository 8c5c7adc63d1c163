#include "connector/process/sink.h"

#include <mutex>

#include "connector/process/answer.h"
#include "connector/process/environment.h"
#include "value/json.h"

namespace sluice::connector::process {
namespace {

reactor::Command command_of(const Function& function, Environment::Variables environment,
                            const event::Delivery& delivery) {
    environment.emplace_back("SLUICE_FUNCTION", delivery.target);
    environment.emplace_back("SLUICE_TASK", delivery.key);
    environment.emplace_back("SLUICE_ATTEMPT", std::to_string(delivery.attempt));
    environment.emplace_back("SLUICE_TOKEN", delivery.token);
    return {.argv = function.argv,
            .environment = std::move(environment),
            .directory = function.directory,
            .input = value::to_json(delivery.payload) + "\n",
            .timeout = delivery.timeout > Nanos{0} ? delivery.timeout : function.timeout,
            .resources = function.resources};
}

} // namespace

/// The processes of each token; one may be delivered twice.
class Sink::Running {
public:
    using Processes = std::multimap<std::string, reactor::ProcessId, std::less<>>;

    /// Starts it and remembers it before its outcome can ask to forget it.
    template <typename Start>
    void add(const std::string& token, Start start) {
        auto lock = std::lock_guard{mutex_};
        auto place = processes_.emplace(token, reactor::ProcessId{});
        place->second = start(place);
    }

    void remove(Processes::iterator place) {
        auto lock = std::lock_guard{mutex_};
        processes_.erase(place);
    }

    void cancel(reactor::ProcessRunner& runner, std::string_view token) {
        auto lock = std::lock_guard{mutex_};
        auto [first, last] = processes_.equal_range(token);
        for (; first != last; first++) {
            runner.cancel(first->second);
        }
    }

    void cancel_all(reactor::ProcessRunner& runner) {
        auto lock = std::lock_guard{mutex_};
        for (const auto& [token, process] : processes_) {
            runner.cancel(process);
        }
    }

private:
    std::mutex mutex_;
    Processes processes_;
};

Sink::Sink(const Services& services, Functions functions)
    : services_(services), functions_(std::move(functions)), running_(std::make_shared<Running>()) {
    for (const auto& [name, function] : functions_) {
        if (function.pool) {
            pools_.emplace(name, std::make_shared<WorkerPool>(services_, name, function));
        }
    }
}

Sink::~Sink() {
    running_->cancel_all(services_.runner);
    for (const auto& [name, pool] : pools_) {
        pool->stop();
    }
}

void Sink::deliver(event::Delivery delivery, Done done) {
    auto found = functions_.find(delivery.target);
    if (found == functions_.end()) {
        auto message = fmt::format("no function '{}' of kind process", delivery.target);
        done(event::failure("unknown_function", std::move(message)));
        return;
    }
    const auto& function = found->second;
    auto environment = Environment{function, services_.secrets};
    auto variables = environment.variables();
    if (!variables) {
        done(event::failure("secret", std::move(variables.error().message)));
        return;
    }
    if (auto pool = pools_.find(delivery.target); pool != pools_.end()) {
        pool->second->deliver(std::move(delivery), std::move(done));
        return;
    }
    auto command = command_of(function, *std::move(variables), delivery);
    auto program = command.argv.empty() ? std::string{} : command.argv[0];
    auto timeout = command.timeout;
    running_->add(delivery.token, [&](Running::Processes::iterator place) {
        auto finish = [running = running_, place, environment, program = std::move(program),
                       timeout, done = std::move(done)](const reactor::Outcome& outcome) mutable {
            running->remove(place);
            done(environment.has_secrets()
                     ? answer_of(environment.redacted(outcome), program, timeout)
                     : answer_of(outcome, program, timeout));
        };
        return services_.runner.start(std::move(command), std::move(finish));
    });
}

void Sink::cancel(std::string_view token) {
    running_->cancel(services_.runner, token);
    for (const auto& [name, pool] : pools_) {
        pool->cancel(token);
    }
}

} // namespace sluice::connector::process

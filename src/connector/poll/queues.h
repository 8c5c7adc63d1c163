#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "connector/poll/desk.h"
#include "event/sink.h"
#include "reactor/scheduler.h"

namespace sluice::connector::poll {

/// A function whose tasks workers ask for.
struct Function {
    /// How long a worker has a task without being heard from.
    Nanos lease = std::chrono::seconds{30};
    /// How often an attempt is handed out before it fails: its worker may be what the task ends.
    std::uint32_t offers_max = 3;
};

/// The tasks of all functions of kind `poll` that this process has called, until workers have
/// answered them: a queue for each function and namespace.
///
/// A task whose worker falls silent is offered again: same attempt, same token, same key. Its
/// answer does not come this way; `cancel` then takes it out. Members may be called from any
/// thread.
class Queues final : public Desk {
public:
    /// Clock and scheduler outlive it.
    Queues(const Clock& clock, reactor::Scheduler& scheduler);
    /// Stops.
    ~Queues() override;
    Queues(const Queues&) = delete;
    Queues& operator=(const Queues&) = delete;

    std::function<void()> ask(Question question, Take take) override;
    /// The function is no more: tasks that no worker has fail with `unknown_function`.
    void drop(const std::string& space, const std::string& function);
    void end_asking() override;
    /// Answers every task with the kind `cancelled`, and so what comes after.
    void stop();

    void add(std::shared_ptr<const Function> function, event::Delivery delivery,
             event::Sink::Done done);
    void cancel(std::string_view token);
    /// A task that waits to be offered again is given back to whoever is heard of.
    bool heartbeat(std::string_view token, std::uint64_t lease);

private:
    class Tasks;

    std::shared_ptr<Tasks> tasks_; // Shared with the scheduler's tasks: one may run meanwhile.
};

/// One function of kind `poll`.
class Sink final : public event::Sink {
public:
    Sink(std::shared_ptr<Queues> queues, Function function)
        : queues_(std::move(queues)), function_(std::make_shared<const Function>(function)) {}

    void deliver(event::Delivery delivery, Done done) override {
        queues_->add(function_, std::move(delivery), std::move(done));
    }
    void cancel(std::string_view token) override { queues_->cancel(token); }
    bool heartbeat(std::string_view token, std::uint64_t lease) override {
        return queues_->heartbeat(token, lease);
    }

private:
    std::shared_ptr<Queues> queues_;
    std::shared_ptr<const Function> function_;
};

} // namespace sluice::connector::poll

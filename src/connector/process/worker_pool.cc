#include "connector/process/worker_pool.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/utf8.h"
#include "connector/process/answer.h"
#include "connector/process/protocol.h"
#include "value/time_text.h"

namespace sluice::connector::process {

WorkerPool::WorkerPool(Services services, std::string name, Function function)
    : services_(services),
      name_(std::move(name)),
      function_(std::move(function)),
      environment_(function_, services_.secrets) {}

/// Does something with a worker that is still there by then, holding the lock.
template <typename Change>
reactor::TimerId WorkerPool::after(Nanos delay, Number number, Change change) {
    return services_.timers.after(delay, [pool = weak_from_this(), number, change] {
        if (auto self = pool.lock()) {
            auto lock = std::lock_guard{self->mutex_};
            auto found = self->workers_.find(number);
            // Once it has stopped, the runner may be going.
            if (!self->has_stopped_ && found != self->workers_.end()) {
                change(*self, found->second);
            }
        }
    });
}

void WorkerPool::clear_timers(Worker& worker) {
    for (auto* timer : {&worker.idle_timer, &worker.timeout_timer, &worker.heartbeat_timer}) {
        if (auto id = std::exchange(*timer, {})) {
            services_.timers.cancel(*id);
        }
    }
}

void WorkerPool::deliver(event::Delivery delivery, Done done) {
    {
        auto lock = std::lock_guard{mutex_};
        if (!has_stopped_) {
            waiting_.push_back({std::move(delivery), std::move(done)});
            hand_out_waiting();
            return;
        }
    }
    done(event::failure("cancelled", fmt::format("the pool of {} has stopped", name_)));
}

void WorkerPool::hand_out_waiting() {
    while (!waiting_.empty() && (!idle_.empty() || workers_.size() < function_.pool->max)) {
        auto call = std::move(waiting_.front());
        waiting_.pop_front();
        if (idle_.empty()) {
            start_worker(std::move(call));
        } else {
            auto number = idle_.back();
            idle_.pop_back();
            hand(number, workers_.at(number), std::move(call));
        }
    }
}

void WorkerPool::start_worker(Call call) {
    auto number = ++last_worker_;
    // Whoever delivers looked whether its secrets are there.
    auto environment = environment_.variables().value_or(function_.environment);
    environment.emplace_back("SLUICE_FUNCTION", name_);
    auto listener = reactor::Listener{
        .on_line =
            [self = shared_from_this(), number](std::string_view line) {
                self->hear(number, self->environment_.redacted(line));
            },
        .on_error_line =
            [self = shared_from_this(), number](std::string_view line) {
                self->services_.diagnostics.info(
                    "worker wrote to its standard error",
                    {{"function", self->name_},
                     {"worker", number},
                     {"line", replace_invalid_utf8(self->environment_.redacted(line))}});
            }};
    auto& worker = workers_[number];
    worker.process = services_.runner.converse(
        {.argv = function_.argv,
         .environment = std::move(environment),
         .directory = function_.directory,
         .resources = function_.resources},
        std::move(listener), [self = shared_from_this(), number](const reactor::Outcome& outcome) {
            self->note_end(number, outcome);
        });
    hand(number, worker, std::move(call));
}

void WorkerPool::hand(Number number, Worker& worker, Call call) {
    clear_timers(worker);
    worker.call_id = ++last_call_;
    ++worker.calls;
    services_.runner.say(worker.process, request_line(worker.call_id, call.delivery));
    auto timeout = call.delivery.timeout > Nanos{0} ? call.delivery.timeout : function_.timeout;
    worker.call = std::move(call);
    if (timeout > Nanos{0}) {
        worker.timeout_timer =
            after(timeout, number, [id = worker.call_id, timeout](WorkerPool& self, Worker& busy) {
                if (busy.call_id == id && busy.call) {
                    self.end(busy, "timeout",
                             fmt::format("the worker was not done within {}",
                                         value::format_duration(timeout)));
                }
            });
    }
    expect_heartbeat(number, worker);
}

void WorkerPool::expect_heartbeat(Number number, Worker& worker) {
    auto silence = function_.pool->heartbeat;
    if (silence == Nanos{0}) {
        return;
    }
    if (auto id = std::exchange(worker.heartbeat_timer, {})) {
        services_.timers.cancel(*id);
    }
    worker.heartbeat_timer =
        after(silence, number, [id = worker.call_id, silence](WorkerPool& self, Worker& busy) {
            if (busy.call_id == id && busy.call) {
                self.end(
                    busy, "heartbeat",
                    fmt::format("the worker was silent for {}", value::format_duration(silence)));
            }
        });
}

void WorkerPool::end(Worker& worker, std::string_view kind, std::string message) {
    if (!worker.verdict) {
        worker.verdict = event::failure(kind, std::move(message));
    }
    worker.is_leaving = true;
    services_.runner.cancel(worker.process);
}

void WorkerPool::rest(Number number, Worker& worker) {
    clear_timers(worker);
    auto is_used_up = function_.pool->calls > 0 && worker.calls >= function_.pool->calls;
    if (is_used_up || has_stopped_) {
        worker.is_leaving = true;
        services_.runner.hang_up(worker.process);
        return;
    }
    idle_.push_back(number);
    worker.idle_timer = after(function_.pool->idle, number,
                              [number, id = worker.call_id](WorkerPool& self, Worker& resting) {
                                  if (resting.call_id == id && !resting.is_leaving) {
                                      std::erase(self.idle_, number);
                                      resting.is_leaving = true;
                                      self.services_.runner.hang_up(resting.process);
                                  }
                              });
}

void WorkerPool::hear(Number number, std::string_view line) {
    auto done = Done{};
    auto answer = event::Answer{};
    {
        auto lock = std::lock_guard{mutex_};
        auto found = workers_.find(number);
        if (found == workers_.end() || found->second.verdict || found->second.is_leaving) {
            return;
        }
        auto& worker = found->second;
        if (!worker.call) {
            services_.diagnostics.warn("worker wrote without being asked",
                                       {{"function", name_}, {"worker", number}});
            std::erase(idle_, number);
            end(worker, "bad_output", "");
            return;
        }
        auto said = read_line(worker.call_id, line);
        if (!said) {
            end(worker, "bad_output", fmt::format("the worker {}", said.error().message));
            return;
        }
        if (std::holds_alternative<Heartbeat>(*said)) {
            expect_heartbeat(number, worker);
            return;
        }
        answer = std::get<event::Answer>(*std::move(said));
        done = std::move(worker.call->done);
        worker.call.reset();
        rest(number, worker);
        hand_out_waiting();
    }
    done(std::move(answer));
}

void WorkerPool::note_end(Number number, const reactor::Outcome& outcome) {
    auto lock = std::unique_lock{mutex_};
    auto gone = workers_.extract(number);
    auto& worker = gone.mapped();
    clear_timers(worker);
    std::erase(idle_, number);
    if (!worker.is_leaving && !worker.call) {
        services_.diagnostics.warn("idle worker ended by itself", {{"function", name_},
                                                                   {"worker", number},
                                                                   {"exit_code", outcome.exit_code},
                                                                   {"signal", outcome.signal}});
    }
    hand_out_waiting();
    lock.unlock();
    if (worker.call) {
        worker.call->done(answer_of_worker(outcome, function_.argv.front(), worker.verdict));
    }
}

void WorkerPool::cancel(std::string_view token) {
    auto dropped = std::vector<Call>{};
    {
        auto lock = std::lock_guard{mutex_};
        for (auto& [number, worker] : workers_) {
            if (worker.call && worker.call->delivery.token == token) {
                end(worker, "cancelled", "the call was cancelled");
            }
        }
        auto is_meant = [&](const Call& call) { return call.delivery.token == token; };
        auto rest = std::stable_partition(waiting_.begin(), waiting_.end(), std::not_fn(is_meant));
        std::move(rest, waiting_.end(), std::back_inserter(dropped));
        waiting_.erase(rest, waiting_.end());
    }
    for (auto& call : dropped) {
        call.done(event::failure("cancelled", "the call was cancelled"));
    }
}

void WorkerPool::stop() {
    auto dropped = std::deque<Call>{};
    {
        auto lock = std::lock_guard{mutex_};
        has_stopped_ = true;
        dropped = std::exchange(waiting_, {});
        for (auto& [number, worker] : workers_) {
            end(worker, "cancelled", "the server stops");
        }
    }
    for (auto& call : dropped) {
        call.done(event::failure("cancelled", "the server stops"));
    }
}

std::size_t WorkerPool::size() const {
    auto lock = std::lock_guard{mutex_};
    return workers_.size();
}

} // namespace sluice::connector::process

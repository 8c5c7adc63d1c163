#include "connector/poll/queues.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "value/time_text.h"

namespace sluice::connector::poll {

namespace {

using Done = event::Sink::Done;

event::Answer cancelled() {
    return event::failure("cancelled", "the task was cancelled");
}

} // namespace

/// Whoever takes a task out answers it, so each is answered once. Nobody is called under the lock.
class Queues::Tasks : public std::enable_shared_from_this<Tasks> {
public:
    using QueueName = std::pair<std::string, std::string>; ///< Namespace, function.

    Tasks(const Clock& clock, reactor::Scheduler& scheduler)
        : clock_(clock),
          scheduler_(scheduler),
          // Above those of the process before, whose workers may still be heard of.
          last_lease_(1000 *
                      static_cast<std::uint64_t>(std::chrono::floor<std::chrono::milliseconds>(
                                                     clock.wall().time_since_epoch())
                                                     .count())) {}

    void add(std::shared_ptr<const Function> function, event::Delivery delivery, Done done) {
        auto lock = std::unique_lock{mutex_};
        if (has_stopped_) {
            lock.unlock();
            done(cancelled());
            return;
        }
        auto key = Key{delivery.token, ++last_number_};
        auto added = open_
                         .emplace(key, Open{.function = std::move(function),
                                            .delivery = std::move(delivery),
                                            .done = std::move(done)})
                         .first;
        auto& task = added->second;
        if (task.delivery.timeout > Nanos{0}) {
            task.deadline = clock_.steady() + task.delivery.timeout;
            task.timeout = later(task.delivery.timeout, [key](Tasks& self) { self.expire(key); });
        }
        auto handed = queue(added);
        lock.unlock();
        hand(handed);
    }

    std::function<void()> ask(Question question, Take take) {
        auto lock = std::unique_lock{mutex_};
        auto name = QueueName{question.space, question.function};
        auto found = queues_.find(name);
        if (has_ended_ || question.wait <= Nanos{0} ||
            (found != queues_.end() && !found->second.waiting.empty())) {
            auto given =
                found == queues_.end() ? std::vector<Task>{} : take_from(found, question.most);
            lock.unlock();
            take(std::move(given));
            return {};
        }
        auto number = ++last_number_;
        auto timer =
            later(question.wait, [name, number](Tasks& self) { self.give_up(name, number); });
        queues_[name].askers.emplace(
            number, Asker{.most = question.most, .take = std::move(take), .timer = timer});
        return [weak = weak_from_this(), name, number] {
            if (auto self = weak.lock()) {
                self->give_up(name, number);
            }
        };
    }

    void cancel(std::string_view token) {
        auto lock = std::unique_lock{mutex_};
        auto taken = std::vector<Done>{};
        for (auto at = first_of(token); at != open_.end() && at->first.first == token;) {
            taken.push_back(take_out(at++));
        }
        lock.unlock();
        for (auto& done : taken) {
            done(cancelled());
        }
    }

    bool heartbeat(std::string_view token, std::uint64_t lease) {
        auto lock = std::lock_guard{mutex_};
        auto is_known = false;
        for (auto at = first_of(token); at != open_.end() && at->first.first == token; ++at) {
            auto& task = at->second;
            if (task.lease == 0) {
                unqueue(at);
                begin_lease(at, lease == 0 ? ++last_lease_ : lease);
            } else if (lease != 0 && lease != task.lease) {
                continue;
            }
            task.lease_end = clock_.steady() + task.function->lease;
            is_known = true;
        }
        return is_known;
    }

    void drop(const QueueName& name) {
        auto lock = std::unique_lock{mutex_};
        auto dropped = std::vector<Done>{};
        for (auto found = queues_.find(name);
             found != queues_.end() && !found->second.waiting.empty(); found = queues_.find(name)) {
            dropped.push_back(take_out(found->second.waiting.begin()->second));
        }
        lock.unlock();
        for (auto& done : dropped) {
            done(event::failure("unknown_function",
                                fmt::format("the function \"{}\" was removed", name.second)));
        }
    }

    void end_asking() {
        auto lock = std::unique_lock{mutex_};
        has_ended_ = true;
        auto ended = std::vector<Take>{};
        for (auto& [name, queue] : queues_) {
            for (auto& [number, asker] : std::exchange(queue.askers, {})) {
                ended.push_back(std::move(asker.take));
            }
        }
        std::erase_if(queues_, [](const auto& each) { return each.second.waiting.empty(); });
        lock.unlock();
        for (auto& take : ended) {
            take({});
        }
    }

    void stop() {
        end_asking();
        auto lock = std::unique_lock{mutex_};
        has_stopped_ = true;
        auto tasks = std::exchange(open_, {});
        queues_.clear();
        lock.unlock();
        for (auto& [key, task] : tasks) {
            task.done(cancelled());
        }
    }

private:
    // A token may be delivered twice; the number tells the tasks apart.
    using Key = std::pair<std::string, std::uint64_t>;

    struct Open {
        std::shared_ptr<const Function> function;
        event::Delivery delivery;
        Done done;
        std::optional<Nanos> deadline{};
        std::uint32_t offers = 0;
        std::uint64_t lease = 0; ///< 0: it waits for a worker.
        Nanos lease_end{0};
        std::optional<reactor::TimerId> timeout{};
        std::optional<reactor::TimerId> lease_timer{};
    };
    using OpenTasks = std::map<Key, Open>;

    struct Asker {
        std::size_t most = 1;
        Take take;
        reactor::TimerId timer;
    };
    struct Queue {
        std::map<std::uint64_t, OpenTasks::iterator> waiting; ///< By number: the oldest first.
        std::map<std::uint64_t, Asker> askers;
    };
    using QueueMap = std::map<QueueName, Queue>;

    /// Tasks for somebody who asked.
    struct Handed {
        Take take;
        std::vector<Task> tasks;
    };

    static void hand(std::vector<Handed>& handed) {
        for (auto& each : handed) {
            each.take(std::move(each.tasks));
        }
    }

    static QueueName queue_of(const Open& task) {
        return {task.delivery.space, task.delivery.target};
    }

    template <typename Work>
    reactor::TimerId later(Nanos delay, Work work) {
        return scheduler_.after(delay, [weak = weak_from_this(), work = std::move(work)] {
            if (auto self = weak.lock()) {
                work(*self);
            }
        });
    }

    OpenTasks::iterator first_of(std::string_view token) {
        return open_.lower_bound(Key{std::string{token}, 0});
    }

    /// It waits, or goes to whoever has asked first. Those before him who only want to hear of it
    /// do.
    std::vector<Handed> queue(OpenTasks::iterator at) {
        auto found = queues_.try_emplace(queue_of(at->second)).first;
        found->second.waiting.emplace(at->first.second, at);
        auto& askers = found->second.askers;
        auto handed = std::vector<Handed>{};
        auto is_taken = false;
        while (!is_taken && !askers.empty()) {
            auto asker = std::move(askers.extract(askers.begin()).mapped());
            scheduler_.cancel(asker.timer);
            is_taken = asker.most > 0;
            handed.push_back({.take = std::move(asker.take), .tasks = {}});
            if (is_taken) {
                handed.back().tasks = take_from(found, asker.most);
            }
        }
        return handed;
    }

    void unqueue(OpenTasks::iterator at) {
        if (auto found = queues_.find(queue_of(at->second)); found != queues_.end()) {
            found->second.waiting.erase(at->first.second);
            forget_empty(found);
        }
    }

    void forget_empty(QueueMap::iterator at) {
        if (at->second.waiting.empty() && at->second.askers.empty()) {
            queues_.erase(at);
        }
    }

    std::vector<Task> take_from(QueueMap::iterator at, std::size_t most) {
        auto tasks = std::vector<Task>{};
        auto& waiting = at->second.waiting;
        while (tasks.size() < most && !waiting.empty()) {
            auto task = waiting.extract(waiting.begin()).mapped();
            ++task->second.offers;
            begin_lease(task, ++last_lease_);
            tasks.push_back(view_of(task->second));
        }
        forget_empty(at);
        return tasks;
    }

    void begin_lease(OpenTasks::iterator at, std::uint64_t lease) {
        auto& task = at->second;
        task.lease = lease;
        task.lease_end = clock_.steady() + task.function->lease;
        task.lease_timer =
            later(task.function->lease, [key = at->first](Tasks& self) { self.end_lease(key); });
    }

    Task view_of(const Open& task) const {
        const auto& delivery = task.delivery;
        return {.token = delivery.token,
                .function = delivery.target,
                .run = delivery.run,
                .key = delivery.key,
                .input = delivery.payload,
                .attempt = delivery.attempt,
                .offer = task.offers,
                .lease = task.lease,
                .lease_time = task.function->lease,
                .time_left =
                    task.deadline ? std::max(Nanos{1}, *task.deadline - clock_.steady()) : Nanos{0},
                .trace = delivery.trace};
    }

    Done take_out(OpenTasks::iterator at) {
        auto& task = at->second;
        if (task.lease == 0) {
            unqueue(at);
        }
        for (auto timer : {task.timeout, task.lease_timer}) {
            if (timer) {
                scheduler_.cancel(*timer);
            }
        }
        auto done = std::move(task.done);
        open_.erase(at);
        return done;
    }

    /// A heartbeat moves the time only in the task: whoever wakes too early goes to sleep again.
    void end_lease(const Key& key) {
        auto lock = std::unique_lock{mutex_};
        auto at = open_.find(key);
        if (at == open_.end()) {
            return;
        }
        auto& task = at->second;
        auto left = task.lease_end - clock_.steady();
        if (left > Nanos{0}) {
            task.lease_timer = later(left, [key](Tasks& self) { self.end_lease(key); });
            return;
        }
        if (task.offers < task.function->offers_max) {
            task.lease = 0;
            task.lease_timer.reset();
            auto handed = queue(at);
            lock.unlock();
            hand(handed);
            return;
        }
        auto message = fmt::format("{} workers took the task and were not heard from within {}",
                                   task.offers, value::format_duration(task.function->lease));
        auto done = take_out(at);
        lock.unlock();
        done(event::failure("heartbeat", std::move(message)));
    }

    void expire(const Key& key) {
        auto lock = std::unique_lock{mutex_};
        auto at = open_.find(key);
        if (at == open_.end()) {
            return;
        }
        auto message = fmt::format(
            "{} within {}", at->second.offers == 0 ? "no worker asked for the task" : "no answer",
            value::format_duration(at->second.delivery.timeout));
        auto done = take_out(at);
        lock.unlock();
        done(event::failure("timeout", std::move(message)));
    }

    void give_up(const QueueName& name, std::uint64_t number) {
        auto lock = std::unique_lock{mutex_};
        auto found = queues_.find(name);
        auto asker = found == queues_.end() ? decltype(found->second.askers.extract(number)){}
                                            : found->second.askers.extract(number);
        if (asker.empty()) {
            return;
        }
        forget_empty(found);
        scheduler_.cancel(asker.mapped().timer);
        lock.unlock();
        asker.mapped().take({});
    }

    const Clock& clock_;
    reactor::Scheduler& scheduler_;
    std::mutex mutex_;
    bool has_ended_ = false;
    bool has_stopped_ = false;
    std::uint64_t last_number_ = 0;
    std::uint64_t last_lease_;
    OpenTasks open_;
    QueueMap queues_;
};

Queues::Queues(const Clock& clock, reactor::Scheduler& scheduler)
    : tasks_(std::make_shared<Tasks>(clock, scheduler)) {}

Queues::~Queues() {
    stop();
}

std::function<void()> Queues::ask(Question question, Take take) {
    return tasks_->ask(std::move(question), std::move(take));
}

void Queues::drop(const std::string& space, const std::string& function) {
    tasks_->drop({space, function});
}

void Queues::end_asking() {
    tasks_->end_asking();
}

void Queues::stop() {
    tasks_->stop();
}

void Queues::add(std::shared_ptr<const Function> function, event::Delivery delivery, Done done) {
    tasks_->add(std::move(function), std::move(delivery), std::move(done));
}

void Queues::cancel(std::string_view token) {
    tasks_->cancel(token);
}

bool Queues::heartbeat(std::string_view token, std::uint64_t lease) {
    return tasks_->heartbeat(token, lease);
}

} // namespace sluice::connector::poll

#include "connector/builtin/sink.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "connector/builtin/functions.h"
#include "value/time_text.h"

namespace sluice::connector::builtin {
namespace {

Reply within(Nanos timeout, Reply reply) {
    if (timeout == Nanos{0} || reply.delay <= timeout) {
        return reply;
    }
    auto message = fmt::format("no answer within {}", value::format_duration(timeout));
    return {timeout, event::failure("timeout", std::move(message))};
}

} // namespace

/// The calls that have not answered yet. Whoever takes one out answers it, so each is answered
/// once.
class Sink::Sleepers : public std::enable_shared_from_this<Sleepers> {
public:
    explicit Sleepers(reactor::Scheduler& scheduler) : scheduler_(scheduler) {}

    void add(std::string token, Reply reply, Done done) {
        auto lock = std::lock_guard{mutex_};
        auto number = ++last_number_;
        auto wake = [self = shared_from_this(), number] { self->wake(number); };
        auto timer = scheduler_.after(reply.delay, std::move(wake));
        numbers_.emplace(token, number);
        calls_.emplace(number,
                       Call{timer, std::move(token), std::move(reply.answer), std::move(done)});
    }

    void cancel(const std::string& token) {
        auto cancelled = std::vector<Call>{};
        auto lock = std::unique_lock{mutex_};
        auto [first, last] = numbers_.equal_range(token);
        for (auto each = first; each != last; ++each) {
            cancelled.push_back(std::move(calls_.extract(each->second).mapped()));
        }
        numbers_.erase(first, last);
        lock.unlock();
        answer_cancelled(cancelled);
    }

    void cancel_all() {
        auto cancelled = std::vector<Call>{};
        auto lock = std::unique_lock{mutex_};
        numbers_.clear();
        for (auto& [number, call] : std::exchange(calls_, {})) {
            cancelled.push_back(std::move(call));
        }
        lock.unlock();
        answer_cancelled(cancelled);
    }

private:
    struct Call {
        reactor::TimerId timer;
        std::string token;
        event::Answer answer;
        Done done;
    };

    void wake(std::uint64_t number) {
        auto lock = std::unique_lock{mutex_};
        auto call = calls_.extract(number);
        if (!call.empty()) {
            forget(call.mapped().token, number);
        }
        lock.unlock();
        if (!call.empty()) {
            call.mapped().done(std::move(call.mapped().answer));
        }
    }

    void forget(const std::string& token, std::uint64_t number) {
        auto [first, last] = numbers_.equal_range(token);
        auto own =
            std::find_if(first, last, [&](const auto& each) { return each.second == number; });
        numbers_.erase(own);
    }

    void answer_cancelled(std::vector<Call>& calls) {
        for (auto& call : calls) {
            scheduler_.cancel(call.timer);
            call.done(event::failure("cancelled", "cancelled while asleep"));
        }
    }

    reactor::Scheduler& scheduler_;
    std::mutex mutex_;
    std::unordered_map<std::uint64_t, Call> calls_;
    /// By token. One may be delivered twice: its calls have numbers of their own.
    std::unordered_multimap<std::string, std::uint64_t> numbers_;
    std::uint64_t last_number_ = 0;
};

Sink::Sink(reactor::Scheduler& scheduler, Options options)
    : options_(options), sleepers_(std::make_shared<Sleepers>(scheduler)) {}

Sink::~Sink() {
    sleepers_->cancel_all();
}

void Sink::deliver(event::Delivery delivery, Done done) {
    auto given = options_.time_scale ? simulate(delivery, options_.seed, *options_.time_scale)
                                     : call(delivery, options_.seed);
    auto reply = within(delivery.timeout, std::move(given));
    if (reply.delay == Nanos{0}) {
        done(std::move(reply.answer));
        return;
    }
    sleepers_->add(std::move(delivery.token), std::move(reply), std::move(done));
}

void Sink::cancel(std::string_view token) {
    sleepers_->cancel(std::string{token});
}

} // namespace sluice::connector::builtin

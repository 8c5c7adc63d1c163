#include "connector/builtin/sink.h"

#include <map>
#include <mutex>
#include <string>
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
        auto key = Key{std::move(token), ++last_number_};
        auto wake = [self = shared_from_this(), key] { self->wake(key); };
        auto timer = scheduler_.after(reply.delay, std::move(wake));
        calls_.emplace(std::move(key), Call{timer, std::move(reply.answer), std::move(done)});
    }

    void cancel(std::string_view token) {
        auto cancelled = std::vector<Call>{};
        auto lock = std::unique_lock{mutex_};
        auto next = calls_.lower_bound(Key{std::string{token}, 0});
        while (next != calls_.end() && next->first.first == token) {
            cancelled.push_back(std::move(calls_.extract(next++).mapped()));
        }
        lock.unlock();
        answer_cancelled(cancelled);
    }

    void cancel_all() {
        auto cancelled = std::vector<Call>{};
        auto lock = std::unique_lock{mutex_};
        for (auto& [key, call] : std::exchange(calls_, {})) {
            cancelled.push_back(std::move(call));
        }
        lock.unlock();
        answer_cancelled(cancelled);
    }

private:
    // A token may be delivered twice; the number tells the calls apart.
    using Key = std::pair<std::string, std::uint64_t>;

    struct Call {
        reactor::TimerId timer;
        event::Answer answer;
        Done done;
    };

    void wake(const Key& key) {
        auto lock = std::unique_lock{mutex_};
        auto call = calls_.extract(key);
        lock.unlock();
        if (!call.empty()) {
            call.mapped().done(std::move(call.mapped().answer));
        }
    }

    void answer_cancelled(std::vector<Call>& calls) {
        for (auto& call : calls) {
            scheduler_.cancel(call.timer);
            call.done(event::failure("cancelled", "cancelled while asleep"));
        }
    }

    reactor::Scheduler& scheduler_;
    std::mutex mutex_;
    std::map<Key, Call> calls_;
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
    sleepers_->cancel(token);
}

} // namespace sluice::connector::builtin

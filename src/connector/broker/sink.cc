#include "connector/broker/sink.h"

#include <atomic>
#include <condition_variable>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "connector/broker/outgoing.h"
#include "reactor/thread.h"
#include "value/time_text.h"

namespace sluice::connector::broker {

namespace {

event::Answer failure_of(const Error& error) {
    auto is_input = error.code == Errc::InvalidInput || error.code == Errc::LimitExceeded;
    return event::failure(error.code == Errc::Unavailable ? "unavailable"
                          : is_input                      ? "invalid_input"
                                                          : "refused",
                          error.message);
}

event::Answer stopping() {
    return event::failure("unavailable", "the server stops");
}

event::Answer too_late(Nanos wait) {
    return event::failure("timeout",
                          fmt::format("not confirmed within {}", value::format_duration(wait)));
}

// What a producer has at once: less than any of them waits at, so that we can always be stopped.
constexpr auto in_flight_max = std::size_t{2048};
constexpr auto in_flight_bytes_max = std::size_t{4} << 20U;

} // namespace

/// The calls of one function, its queue and its thread. Whoever takes a call out answers it, so
/// each is answered once.
class Senders::Sender : public std::enable_shared_from_this<Sender> {
public:
    using Done = event::Sink::Done;

    Sender(Target target, reactor::Scheduler& timers)
        : target_(std::move(target)), timers_(timers) {}

    ~Sender() { join(); }

    void deliver(event::Delivery delivery, Done done) {
        auto lock = std::unique_lock{mutex_};
        if (is_closed_) {
            lock.unlock();
            done(stopping());
            return;
        }
        auto number = ++last_number_;
        auto& call = calls_[number];
        call.token = delivery.token;
        call.done = std::move(done);
        numbers_.emplace(delivery.token, number);
        if (delivery.timeout > Nanos{0}) {
            call.timer = timers_.after(delivery.timeout,
                                       [weak = weak_from_this(), number, wait = delivery.timeout] {
                                           if (auto self = weak.lock()) {
                                               self->settle(number, too_late(wait));
                                           }
                                       });
        }
        queue_.push_back({number, std::move(delivery)});
        if (!thread_.joinable()) {
            thread_ = reactor::start_thread("to broker", [this](const auto&) { run(); });
        }
        lock.unlock();
        changed_.notify_one();
    }

    void cancel(const std::string& token) {
        auto numbers = std::vector<std::uint64_t>{};
        auto lock = std::unique_lock{mutex_};
        auto [first, last] = numbers_.equal_range(token);
        for (auto each = first; each != last; ++each) {
            numbers.push_back(each->second);
        }
        lock.unlock();
        for (auto number : numbers) {
            settle(number, event::failure("cancelled", "the call was cancelled"));
        }
    }

    /// Nothing more comes; what is here is answered. Returns at once.
    void close() {
        auto numbers = std::vector<std::uint64_t>{};
        auto lock = std::unique_lock{mutex_};
        is_closed_ = true;
        queue_.clear();
        for (const auto& [number, call] : calls_) {
            numbers.push_back(number);
        }
        lock.unlock();
        changed_.notify_one();
        for (auto number : numbers) {
            settle(number, stopping());
        }
    }

    /// Closed, and its thread has nothing more to do.
    bool has_ended() {
        auto lock = std::lock_guard{mutex_};
        return is_closed_ && (has_run_ || !thread_.joinable());
    }

    void join() {
        if (thread_.joinable()) {
            thread_.join();
        }
    }

private:
    struct Call {
        std::string token;
        Done done;
        std::optional<reactor::TimerId> timer;
    };

    struct Waiting {
        std::uint64_t number;
        event::Delivery delivery;
    };

    void run() {
        // Here, so that whatever it still confirms or refuses finds us.
        auto producer = std::unique_ptr<event::Producer>{};
        for (auto batch = take(); !batch.empty(); batch = take()) {
            for (auto& waiting : batch) {
                send(producer, waiting);
            }
        }
        producer.reset();
        auto lock = std::lock_guard{mutex_};
        has_run_ = true;
    }

    /// All that waits; nothing when there will be none.
    std::vector<Waiting> take() {
        auto lock = std::unique_lock{mutex_};
        changed_.wait(lock, [&] { return is_closed_ || !queue_.empty(); });
        return std::exchange(queue_, {});
    }

    void send(std::unique_ptr<event::Producer>& producer, Waiting& waiting) {
        auto number = waiting.number;
        if (!is_wanted(number)) {
            return;
        }
        auto outgoing = outgoing_of(waiting.delivery, codec_);
        if (!outgoing) {
            settle(number, failure_of(outgoing.error()));
            return;
        }
        if (!producer) {
            auto opened = target_.open();
            if (!opened) {
                settle(number, failure_of(opened.error()));
                return;
            }
            producer = *std::move(opened);
        }
        auto bytes = outgoing->json.size();
        if (!take_room(bytes)) {
            return;
        }
        outgoing->to = target_.to;
        producer->send(*std::move(outgoing), [this, number, bytes](const Result<void>& sent) {
            give_room(bytes);
            settle(number, sent ? event::Answer{} : failure_of(sent.error()));
        });
    }

    /// Waits for it. False when nothing is to be sent any more.
    bool take_room(std::size_t bytes) {
        auto lock = std::unique_lock{mutex_};
        changed_.wait(lock, [&] {
            return is_closed_ ||
                   (in_flight_ < in_flight_max && in_flight_bytes_ < in_flight_bytes_max);
        });
        ++in_flight_;
        in_flight_bytes_ += bytes;
        return !is_closed_;
    }

    void give_room(std::size_t bytes) {
        {
            auto lock = std::lock_guard{mutex_};
            --in_flight_;
            in_flight_bytes_ -= bytes;
        }
        changed_.notify_one();
    }

    bool is_wanted(std::uint64_t number) {
        auto lock = std::lock_guard{mutex_};
        return calls_.contains(number);
    }

    void settle(std::uint64_t number, event::Answer answer) {
        auto lock = std::unique_lock{mutex_};
        auto found = calls_.extract(number);
        if (found.empty()) {
            return;
        }
        auto& call = found.mapped();
        auto [first, last] = numbers_.equal_range(call.token);
        while (first != last && first->second != number) {
            ++first;
        }
        if (first != last) {
            numbers_.erase(first);
        }
        lock.unlock();
        if (call.timer) {
            timers_.cancel(*call.timer);
        }
        call.done(std::move(answer));
    }

    const Target target_;
    reactor::Scheduler& timers_;
    event::Codec codec_; ///< The thread's own.
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_closed_ = false;
    bool has_run_ = false;
    std::vector<Waiting> queue_;
    std::size_t in_flight_ = 0; ///< Handed to the producer and not confirmed.
    std::size_t in_flight_bytes_ = 0;
    std::unordered_map<std::uint64_t, Call> calls_;
    /// By token. One may be delivered twice: its calls have numbers of their own.
    std::unordered_multimap<std::string, std::uint64_t> numbers_;
    std::uint64_t last_number_ = 0;
    std::jthread thread_;
};

class Senders::Sink final : public event::Sink {
public:
    explicit Sink(std::shared_ptr<Sender> sender) : sender_(std::move(sender)) {}
    ~Sink() override { sender_->close(); }

    bool is_answered_from_outside() const override { return false; }
    void deliver(event::Delivery delivery, Done done) override {
        sender_->deliver(std::move(delivery), std::move(done));
    }
    void cancel(std::string_view token) override { sender_->cancel(std::string{token}); }

private:
    std::shared_ptr<Sender> sender_;
};

Senders::~Senders() {
    stop();
}

std::shared_ptr<event::Sink> Senders::make(Target target) {
    auto sender = std::make_shared<Sender>(std::move(target), timers_);
    sweep();
    auto lock = std::lock_guard{mutex_};
    if (has_stopped_) {
        sender->close();
    }
    senders_.push_back(sender);
    return std::make_shared<Sink>(std::move(sender));
}

void Senders::sweep() {
    auto ended = std::vector<std::shared_ptr<Sender>>{};
    auto lock = std::lock_guard{mutex_};
    std::erase_if(senders_, [&](auto& sender) {
        auto has_ended = sender->has_ended();
        if (has_ended) {
            ended.push_back(std::move(sender));
        }
        return has_ended;
    });
}

void Senders::stop() {
    auto lock = std::unique_lock{mutex_};
    has_stopped_ = true;
    auto senders = senders_;
    lock.unlock();
    for (const auto& sender : senders) {
        sender->close();
    }
    for (const auto& sender : senders) {
        sender->join();
    }
}

} // namespace sluice::connector::broker

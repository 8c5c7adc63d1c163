#include "connector/amqp/internal/queue_producer.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>
#include <utility>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/invariant.h"

namespace sluice::connector::amqp::internal {

namespace {

// What is sent and not done may take this much memory; senders wait then.
constexpr auto pending_bytes_max = std::size_t{32 * 1024 * 1024};
// Confirmations are heard between these many messages.
constexpr auto burst_max = std::size_t{256};
constexpr auto review_every = std::chrono::milliseconds{100};

} // namespace

QueueProducer::QueueProducer(const Options& options, observe::Diagnostics& diagnostics)
    : options_(options),
      diagnostics_(diagnostics),
      wake_descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      back_off_(static_cast<std::uint64_t>(Steady::now().time_since_epoch().count())) {
    INVARIANT(wake_descriptor_ >= 0, "a process has descriptors left for its own parts");
    thread_ = std::thread{[this] { run(); }};
}

QueueProducer::~QueueProducer() {
    {
        auto lock = std::unique_lock{mutex_};
        is_stopping_ = true;
        // A thread that writes to a broker that does not read ends by this.
        if (descriptor_ >= 0 && count_ > 0) {
            ::shutdown(descriptor_, SHUT_RDWR);
        }
    }
    changed_.notify_all();
    wake();
    thread_.join();
    ::close(wake_descriptor_);
}

void QueueProducer::send(event::Outgoing event, Done done) {
    auto pending = Pending{std::move(event), std::move(done), Steady::now()};
    auto lock = std::unique_lock{mutex_};
    // One who sends from `done` is on the thread that makes room: it cannot wait.
    if (std::this_thread::get_id() != thread_.get_id()) {
        auto count_max = std::size_t{options_.window} * 4;
        changed_.wait(lock, [&] {
            return is_stopping_ || (bytes_ < pending_bytes_max && count_ < count_max);
        });
    }
    if (is_stopping_) {
        lock.unlock();
        pending.done(fail(Errc::Unavailable, "the producer is closed"));
        return;
    }
    bytes_ += pending.bytes();
    ++count_;
    queued_.push_back(std::move(pending));
    if (std::exchange(is_asleep_, false)) {
        lock.unlock();
        wake();
    }
}

Result<void> QueueProducer::flush(Nanos wait) {
    auto lock = std::unique_lock{mutex_};
    if (!changed_.wait_for(lock, wait, [&] { return count_ == 0; })) {
        return fail(Errc::Unavailable, "{} events are not confirmed yet{}{}", count_,
                    trouble_.empty() ? "" : ": ", trouble_);
    }
    return {};
}

void QueueProducer::wake() const {
    auto one = std::uint64_t{1};
    std::ignore = ::write(wake_descriptor_, &one, sizeof(one));
}

void QueueProducer::run() {
    auto outcomes = Outcomes{};
    while (take_queued()) {
        if (!publisher_ && !ready_.empty() && Steady::now() >= next_attempt_) {
            connect(outcomes);
        }
        if (publisher_) {
            auto done = publish_some();
            if (done) {
                done = publisher_->hear(outcomes);
            }
            if (!done) {
                lose_publisher(done.error(), outcomes);
            }
        }
        give_up_old(outcomes);
        report(outcomes);
        wait_for_work();
    }
    stop(outcomes);
}

/// What was sent is the thread's own from here on. False: it is time to stop.
bool QueueProducer::take_queued() {
    auto lock = std::unique_lock{mutex_};
    is_asleep_ = false;
    if (ready_.empty()) {
        ready_.swap(queued_);
    } else {
        std::ranges::move(queued_, std::back_inserter(ready_));
        queued_.clear();
    }
    return !is_stopping_;
}

bool QueueProducer::has_room() const {
    return publisher_ && !publisher_->is_blocked() && publisher_->unconfirmed() < options_.window &&
           (ready_.empty() || publisher_->is_free(ready_.front()));
}

Result<void> QueueProducer::publish_some() {
    auto burst = std::size_t{0};
    auto is_held = ready_.size() > 1;
    if (is_held) {
        publisher_->hold(true);
    }
    auto done = Result<void>{};
    for (; done && burst < burst_max && !ready_.empty() && has_room(); ++burst) {
        auto next = std::move(ready_.front());
        ready_.pop_front();
        done = publisher_->publish(std::move(next));
    }
    if (is_held) {
        publisher_->hold(false);
    }
    return done;
}

void QueueProducer::connect(Outcomes& outcomes) {
    auto made = Publisher::open(options_);
    if (made) {
        publisher_ = *std::move(made);
        set_descriptor(publisher_->descriptor());
        set_trouble({});
        back_off_.reset();
        return;
    }
    lose_publisher(made.error(), outcomes);
}

/// What may pass is tried again, what was under way first; what will not pass fails all of it.
void QueueProducer::lose_publisher(const Error& why, Outcomes& outcomes) {
    set_descriptor(-1);
    set_trouble(why.message);
    if (publisher_) {
        diagnostics_.warn("broker lost", {{"broker", options_.place()}, {"why", why.message}});
        auto unconfirmed = publisher_->take_unconfirmed();
        publisher_.reset();
        if (why.code == Errc::Unavailable) {
            ready_.insert(ready_.begin(), std::make_move_iterator(unconfirmed.begin()),
                          std::make_move_iterator(unconfirmed.end()));
        } else {
            for (auto& each : unconfirmed) {
                outcomes.emplace_back(std::move(each), std::unexpected(why));
            }
        }
    } else if (why.code != Errc::Unavailable) {
        for (auto& each : ready_) {
            outcomes.emplace_back(std::move(each), std::unexpected(why));
        }
        ready_.clear();
    }
    next_attempt_ = Steady::now() + back_off_.next();
}

void QueueProducer::give_up_old(Outcomes& outcomes) {
    auto now = Steady::now();
    if (now < next_review_) {
        return;
    }
    next_review_ = now + review_every;
    auto before = now - options_.give_up;
    if (publisher_) {
        publisher_->give_up(before, outcomes);
        if (auto answered = publisher_->check_answers(now); !answered) {
            lose_publisher(answered.error(), outcomes);
        }
    }
    while (!ready_.empty() && ready_.front().sent_at < before) {
        outcomes.emplace_back(std::move(ready_.front()),
                              fail(Errc::Unavailable, "the broker was not reached in time{}{}",
                                   trouble_.empty() ? "" : ": ", trouble_));
        ready_.pop_front();
    }
}

void QueueProducer::report(Outcomes& outcomes) {
    if (outcomes.empty()) {
        return;
    }
    auto bytes = std::size_t{0};
    for (auto& outcome : outcomes) {
        bytes += outcome.bytes;
        outcome.done(std::move(outcome.result));
    }
    {
        auto lock = std::unique_lock{mutex_};
        bytes_ -= bytes;
        count_ -= outcomes.size();
    }
    changed_.notify_all();
    outcomes.clear();
}

void QueueProducer::wait_for_work() {
    auto can_send = has_room();
    if (can_send && !ready_.empty()) {
        return;
    }
    auto wait = Nanos{options_.heartbeat / 3};
    if (!ready_.empty() || (publisher_ && publisher_->unconfirmed() > 0)) {
        wait = review_every;
    }
    if (!publisher_ && !ready_.empty()) {
        wait = std::clamp(Nanos{next_attempt_ - Steady::now()}, Nanos{0}, wait);
    }
    {
        auto lock = std::unique_lock{mutex_};
        if (is_stopping_ || (can_send && !queued_.empty())) {
            return;
        }
        is_asleep_ = can_send || (!publisher_ && ready_.empty());
        if (is_asleep_ && !queued_.empty()) {
            return;
        }
    }
    auto descriptors = std::array<pollfd, 2>{
        {{.fd = wake_descriptor_, .events = POLLIN, .revents = 0},
         {.fd = publisher_ ? publisher_->descriptor() : -1, .events = POLLIN, .revents = 0}}};
    auto millis = std::chrono::ceil<std::chrono::milliseconds>(wait).count();
    ::poll(descriptors.data(), descriptors.size(), static_cast<int>(millis));
    if (descriptors[0].revents != 0) {
        auto count = std::uint64_t{0};
        std::ignore = ::read(wake_descriptor_, &count, sizeof(count));
    }
}

void QueueProducer::stop(Outcomes& outcomes) {
    set_descriptor(-1);
    if (publisher_) {
        auto is_well = publisher_->hear(outcomes).has_value();
        auto unconfirmed = publisher_->take_unconfirmed();
        ready_.insert(ready_.begin(), std::make_move_iterator(unconfirmed.begin()),
                      std::make_move_iterator(unconfirmed.end()));
        if (is_well) {
            publisher_->close();
        }
    }
    for (auto& each : ready_) {
        outcomes.emplace_back(std::move(each), fail(Errc::Unavailable, "the producer was closed"));
    }
    report(outcomes);
}

void QueueProducer::set_descriptor(int descriptor) {
    auto lock = std::unique_lock{mutex_};
    descriptor_ = descriptor;
}

void QueueProducer::set_trouble(std::string trouble) {
    auto lock = std::unique_lock{mutex_};
    trouble_ = std::move(trouble);
}

} // namespace sluice::connector::amqp::internal

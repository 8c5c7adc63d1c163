#include "cluster/ordered_sender.h"

#include <chrono>
#include <utility>

namespace sluice::cluster {

namespace {

constexpr auto resend_wait = std::chrono::milliseconds{200};

} // namespace

void OrderedSender::send(event::Outgoing message) {
    auto to = message.to;
    {
        auto lock = std::lock_guard{mutex_};
        destinations_[to].waiting.push_back(std::move(message));
    }
    send_waiting(to);
}

void OrderedSender::stop() {
    auto lock = std::lock_guard{mutex_};
    is_stopped_ = true;
    destinations_.clear();
}

void OrderedSender::send_waiting(const std::string& to) {
    auto lock = std::unique_lock{mutex_};
    if (std::exchange(destinations_[to].is_sending, true)) {
        return;
    }
    auto has_more = [&] {
        const auto& destination = destinations_[to];
        return !is_stopped_ && !destination.has_failed && !destination.waiting.empty();
    };
    while (has_more()) {
        auto& destination = destinations_[to];
        auto order = ++last_;
        auto message = destination.waiting.front();
        destination.under_way.emplace(order,
                                      Sent{.message = std::move(destination.waiting.front())});
        destination.waiting.pop_front();
        // It may answer inside the call, or wait.
        lock.unlock();
        producer_.send(std::move(message), [self = weak_from_this(), to, order](Result<void> sent) {
            if (auto sender = self.lock()) {
                sender->finish(to, order, sent.has_value());
            }
        });
        lock.lock();
    }
    destinations_[to].is_sending = false;
}

void OrderedSender::finish(const std::string& to, std::uint64_t order, bool is_there) {
    auto lock = std::unique_lock{mutex_};
    if (is_stopped_) {
        return;
    }
    auto& destination = destinations_[to];
    if (is_there && !destination.has_failed) {
        note_there(destination, order);
        return;
    }
    // What came behind one that failed may have arrived: sent again it is a repetition.
    auto was_failing = std::exchange(destination.has_failed, true);
    lock.unlock();
    if (!was_failing) {
        timers_.after(resend_wait, [self = weak_from_this(), to] {
            if (auto sender = self.lock()) {
                sender->try_again(to);
            }
        });
    }
}

/// The receiver did not take what overtook another: if that one fails, both are sent again.
void OrderedSender::note_there(Destination& destination, std::uint64_t order) {
    auto& under_way = destination.under_way;
    if (auto found = under_way.find(order); found != under_way.end()) {
        found->second.is_there = true;
    }
    while (!under_way.empty() && under_way.begin()->second.is_there) {
        under_way.erase(under_way.begin());
    }
}

void OrderedSender::try_again(const std::string& to) {
    {
        auto lock = std::lock_guard{mutex_};
        if (is_stopped_) {
            return;
        }
        auto& destination = destinations_[to];
        for (auto each = destination.under_way.rbegin(); each != destination.under_way.rend();
             ++each) {
            destination.waiting.push_front(std::move(each->second.message));
        }
        destination.under_way.clear();
        destination.has_failed = false;
    }
    send_waiting(to);
}

} // namespace sluice::cluster

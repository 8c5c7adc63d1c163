#include "connector/nats/internal/flight.h"

#include <algorithm>

namespace sluice::connector::nats::internal {

using Done = event::Producer::Done;

std::uint64_t Flight::add(Sent sent) {
    ++count_;
    bytes_ += sent.bytes();
    sent_.push_back(std::move(sent));
    return last();
}

const Sent* Flight::find(std::uint64_t number) const {
    if (number < first_ || number > last() || !sent_[number - first_].done) {
        return nullptr;
    }
    return &sent_[number - first_];
}

Done Flight::settle(std::uint64_t number) {
    if (find(number) == nullptr) {
        return {};
    }
    auto done = take(sent_[number - first_]);
    trim();
    return done;
}

std::vector<Done> Flight::expire(Nanos now) {
    auto expired = std::vector<Done>{};
    auto subjects = std::vector<std::string>{};
    auto is_taken = [&](const std::string& subject) {
        return std::ranges::find(subjects, subject) != subjects.end();
    };
    for (auto& sent : sent_) {
        if (!sent.done) {
            continue;
        }
        auto is_late = now >= sent.until;
        if (is_late && !is_taken(sent.subject)) {
            subjects.push_back(sent.subject);
        }
        if (is_late || is_taken(sent.subject)) {
            expired.push_back(take(sent));
        }
    }
    trim();
    return expired;
}

std::vector<Done> Flight::settle_all() {
    return settle_up_to(last());
}

std::vector<Done> Flight::settle_up_to(std::uint64_t number) {
    auto settled = std::vector<Done>{};
    for (auto at = first_; at <= number && at <= last(); ++at) {
        if (sent_[at - first_].done) {
            settled.push_back(take(sent_[at - first_]));
        }
    }
    trim();
    return settled;
}

Done Flight::take(Sent& sent) {
    --count_;
    bytes_ -= sent.bytes();
    auto done = std::move(sent.done);
    sent = Sent{};
    return done;
}

void Flight::trim() {
    while (!sent_.empty() && !sent_.front().done) {
        sent_.pop_front();
        ++first_;
    }
}

} // namespace sluice::connector::nats::internal

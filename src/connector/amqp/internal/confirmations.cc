#include "connector/amqp/internal/confirmations.h"

#include <algorithm>

namespace sluice::connector::amqp::internal {

std::uint64_t Confirmations::confirm(std::uint64_t number) {
    done_ = std::max(done_, number);
    return advance();
}

std::uint64_t Confirmations::pass_over(std::uint64_t number) {
    if (number > done_) {
        ahead_.insert(number);
    }
    return advance();
}

std::uint64_t Confirmations::advance() {
    while (!ahead_.empty() && *ahead_.begin() <= done_ + 1) {
        done_ = std::max(done_, *ahead_.begin());
        ahead_.erase(ahead_.begin());
    }
    return done_;
}

} // namespace sluice::connector::amqp::internal

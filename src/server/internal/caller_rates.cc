#include "server/internal/caller_rates.h"

namespace sluice::server {

Nanos CallerRates::take(std::string_view caller, Nanos now) {
    auto lock = std::lock_guard{mutex_};
    auto found = callers_.find(caller);
    if (found == callers_.end() && callers_.size() >= callers_max) {
        if (now >= forget_at_) {
            std::erase_if(callers_, [&](const auto& each) { return each.second.is_full(now); });
            forget_at_ = now + std::chrono::seconds{1};
        }
        if (callers_.size() >= callers_max) {
            return others_.take(now);
        }
    }
    if (found == callers_.end()) {
        found = callers_.try_emplace(std::string{caller}, rate_).first;
    }
    return found->second.take(now);
}

} // namespace sluice::server

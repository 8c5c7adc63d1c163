#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/rate_limit.h"

namespace sluice::server {

/// Requests of each caller, by what names it. May be used from any thread.
class CallerRates {
public:
    /// Beyond it, and with nobody to forget, all further callers share one rate.
    static constexpr auto callers_max = std::size_t{10'000};

    explicit CallerRates(Rate rate) : rate_(rate), others_(rate) {}

    bool is_set() const { return rate_.is_set(); }
    /// Zero: go ahead. Otherwise it may ask again after so long.
    Nanos take(std::string_view caller, Nanos now);

private:
    Rate rate_;
    std::mutex mutex_;
    std::map<std::string, RateLimit, std::less<>> callers_;
    Nanos forget_at_{0}; ///< Looking for whom to forget takes a while: not for every request.
    RateLimit others_;
};

} // namespace sluice::server

#pragma once

#include <chrono>
#include <string>
#include <type_traits>
#include <utility>

#include "base/random.h"
#include "base/result.h"
#include "store/postgres/internal/failure.h"
#include "store/postgres/options.h"

namespace sluice::store::postgres {

/// Whether an attempt that failed so may succeed later.
bool is_passing(const Failure& failure);

/// How long to wait between attempts, and when to give up.
class Retry {
public:
    Retry(const Options& options, std::string_view what);

    /// Waits for the next attempt: not at all before the second, then longer and longer, up to a
    /// second, so that many who lost one server do not all come back at once. No when the failure
    /// is for good or the patience is over.
    bool wait(const Failure& failure);
    /// What to tell whoever waited in vain.
    Error error_of(const Failure& failure) const;

private:
    const Options& options_;
    std::string_view what_;
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    Random random_;
    int attempts_ = 1;
};

/// Attempts until one succeeds, fails for good, or the patience is over.
template <typename Attempt>
auto insist(const Options& options, std::string_view what, Attempt attempt)
    -> Result<typename std::invoke_result_t<Attempt>::value_type> {
    auto retry = Retry{options, what};
    for (;;) {
        auto outcome = attempt();
        if (outcome) {
            if constexpr (std::is_void_v<typename std::invoke_result_t<Attempt>::value_type>) {
                return {};
            } else {
                return *std::move(outcome);
            }
        }
        if (!retry.wait(outcome.error())) {
            return std::unexpected(retry.error_of(outcome.error()));
        }
    }
}

} // namespace sluice::store::postgres

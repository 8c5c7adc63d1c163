#include "store/postgres/internal/retry.h"

#include <algorithm>
#include <random>
#include <thread>

namespace sluice::store::postgres {
namespace {

constexpr auto pause_least = Nanos{std::chrono::milliseconds{10}};
constexpr auto pause_most = Nanos{std::chrono::seconds{1}};
constexpr auto doublings_max = 7;

} // namespace

bool is_passing(const Failure& failure) {
    return failure.trouble == Trouble::Lost || failure.trouble == Trouble::Busy ||
           failure.trouble == Trouble::ReadOnly;
}

Retry::Retry(const Options& options, std::string_view what)
    : options_(options), what_(what), random_(std::random_device{}()) {}

bool Retry::wait(const Failure& failure) {
    if (!is_passing(failure)) {
        return false;
    }
    auto left = options_.patience - (std::chrono::steady_clock::now() - began_);
    if (left <= Nanos{0}) {
        return false;
    }
    auto attempt = attempts_++;
    if (options_.report) {
        options_.report(fmt::format("postgres at {}: {} failed, trying again: {}", options_.where(),
                                    what_, failure.message));
    }
    if (attempt > 1) {
        auto pause = std::min(pause_most, pause_least * (1 << std::min(attempt, doublings_max)));
        auto jittered = pause / 2 + Nanos{static_cast<std::int64_t>(random_.below(
                                        static_cast<std::uint64_t>(pause.count()) / 2))};
        std::this_thread::sleep_for(std::min<Nanos>(jittered, left));
    }
    return true;
}

Error Retry::error_of(const Failure& failure) const {
    auto tried =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - began_);
    auto how_long = is_passing(failure)
                        ? fmt::format(", tried {} times in {} s", attempts_, tried.count())
                        : std::string{};
    return {failure.code, fmt::format("postgres at {}: {}: {}{}", options_.where(), what_,
                                      failure.message, how_long)};
}

} // namespace sluice::store::postgres

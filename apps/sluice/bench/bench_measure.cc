#include "sluice/bench/bench_measure.h"

#include <chrono>
#include <cmath>
#include <cstdint>

#include "sluice/bench/bench_world.h"

namespace sluice::app {

Result<double> measure_rate(std::string_view what, const std::function<bool()>& work) {
    constexpr auto seconds = 0.2;
    constexpr auto round = 100;
    auto done = std::uint64_t{0};
    auto begin = std::chrono::steady_clock::now();
    while (seconds_since(begin) < seconds) {
        for (auto at = 0; at < round; ++at) {
            if (!work()) {
                return fail(Errc::Internal, "{} did not give what it should", what);
            }
        }
        done += round;
    }
    return static_cast<double>(done) / seconds_since(begin);
}

double rounded(double number, double steps) {
    return std::round(number * steps) / steps;
}

void add_rate(std::vector<value::Member>& report, const std::string& name, const Samples& samples) {
    report.push_back({name + "_per_second", std::round(samples.median())});
    report.push_back({name + "_spread", rounded(samples.spread(), 1000)});
}

} // namespace sluice::app

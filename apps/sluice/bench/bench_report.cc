#include "sluice/bench/bench_report.h"

#include <cmath>
#include <fstream>

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "value/json.h"

namespace sluice::app {

double Samples::median() const {
    if (samples_.empty()) {
        return 0;
    }
    auto sorted = samples_;
    std::ranges::sort(sorted);
    auto middle = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double Samples::spread() const {
    if (samples_.empty() || median() == 0) {
        return 0;
    }
    auto [least, most] = std::ranges::minmax(samples_);
    return (most - least) / median();
}

std::uint64_t resident_bytes() {
    auto statm = std::ifstream{"/proc/self/statm"};
    auto pages = std::uint64_t{0};
    auto resident = std::uint64_t{0};
    statm >> pages >> resident;
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

double cpu_seconds() {
    auto usage = rusage{};
    ::getrusage(RUSAGE_SELF, &usage);
    auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

Value to_value(const BenchFigures& figures, const std::string& workload,
               const std::string& durability) {
    auto members =
        std::vector<value::Member>{{"workload", workload},
                                   {"durability", durability},
                                   {"events", static_cast<std::int64_t>(figures.events)},
                                   {"fired", static_cast<std::int64_t>(figures.fired)},
                                   {"commits", static_cast<std::int64_t>(figures.commits)}};
    auto add = [&](const char* name, const Samples& samples) {
        if (!samples.is_empty()) {
            members.push_back({name, std::round(samples.median() * 100) / 100});
        }
    };
    add("events_per_second", figures.events_per_second);
    add("cpu_us_per_event", figures.cpu_us_per_event);
    add("step_us", figures.step_us);
    add("elapsed_ms", figures.elapsed_ms);
    add("restart_ms", figures.restart_ms);
    add("noop_over_join", figures.noop_over_join);
    add("latency_us", figures.latency_us);
    members.push_back({"rss_bytes", static_cast<std::int64_t>(figures.rss_bytes)});
    members.push_back({"disk_bytes", static_cast<std::int64_t>(figures.disk_bytes)});
    const auto& main = !figures.events_per_second.is_empty() ? figures.events_per_second
                       : !figures.latency_us.is_empty()      ? figures.latency_us
                                                             : figures.elapsed_ms;
    members.push_back({"repetitions", static_cast<std::int64_t>(main.size())});
    members.push_back({"spread", std::round(main.spread() * 1000) / 1000});
    add("ceiling_events_per_second", figures.ceiling_events_per_second);
    add("ceiling_store_events_per_second", figures.ceiling_store_events_per_second);
    add("ceiling_sync_us", figures.ceiling_sync_us);
    add("ceiling_group_events_per_second", figures.ceiling_group_events_per_second);
    add("ceiling_position_events_per_second", figures.ceiling_position_events_per_second);
    add("ceiling_bare_events_per_second", figures.ceiling_bare_events_per_second);
    add("ceiling_round_trip_us", figures.ceiling_round_trip_us);
    return Value::map(std::move(members));
}

std::string to_table(const Value& report) {
    auto text = std::string{};
    for (const auto& [name, figure] : report.as_map()) {
        auto shown = figure.is_string() ? std::string{figure.as_string()} : value::to_json(figure);
        text += fmt::format("{:<34} {}\n", name, shown);
    }
    return text;
}

} // namespace sluice::app

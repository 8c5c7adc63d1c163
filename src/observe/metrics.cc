#include "observe/metrics.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/invariant.h"

namespace sluice::observe {

namespace {

constexpr auto nanos_per_second = 1e9;

} // namespace

std::size_t internal::thread_number() {
    static auto threads = std::atomic<std::size_t>{0};
    thread_local auto number = threads.fetch_add(1, std::memory_order_relaxed);
    return number;
}

std::uint64_t Counter::value() const {
    auto sum = std::uint64_t{0};
    for (const auto& cell : cells_) {
        sum += cell.count.load(std::memory_order_relaxed);
    }
    return sum;
}

void Histogram::add(Nanos taken) {
    auto& cell = cells_[internal::thread_number() % cells_.size()];
    auto bucket = std::ranges::lower_bound(bounds, taken.count()) - bounds.begin();
    cell.counts[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
    cell.nanos.fetch_add(taken.count(), std::memory_order_relaxed);
}

Histogram::Reading Histogram::read() const {
    auto reading = Reading{};
    for (const auto& cell : cells_) {
        for (auto at = std::size_t{0}; at < cell.counts.size(); ++at) {
            auto count = cell.counts[at].load(std::memory_order_relaxed);
            reading.counts[at] += count;
            reading.count += count;
        }
        reading.seconds +=
            static_cast<double>(cell.nanos.load(std::memory_order_relaxed)) / nanos_per_second;
    }
    return reading;
}

Counter& Metrics::counter(std::string_view name) {
    auto lock = std::lock_guard{mutex_};
    INVARIANT(!gauges_.contains(name) && !histograms_.contains(name), "a counter is nothing else");
    return counters_.try_emplace(std::string{name}).first->second;
}

Gauge& Metrics::gauge(std::string_view name) {
    auto lock = std::lock_guard{mutex_};
    INVARIANT(!counters_.contains(name) && !histograms_.contains(name), "a gauge is nothing else");
    return gauges_.try_emplace(std::string{name}).first->second;
}

Histogram& Metrics::histogram(std::string_view name) {
    auto lock = std::lock_guard{mutex_};
    INVARIANT(!counters_.contains(name) && !gauges_.contains(name), "a histogram is nothing else");
    return histograms_.try_emplace(std::string{name}).first->second;
}

std::map<std::string, std::int64_t> Metrics::snapshot() const {
    auto lock = std::lock_guard{mutex_};
    auto values = std::map<std::string, std::int64_t>{};
    for (const auto& [name, counter] : counters_) {
        values.emplace(name, static_cast<std::int64_t>(counter.value()));
    }
    for (const auto& [name, gauge] : gauges_) {
        values.emplace(name, gauge.value());
    }
    return values;
}

namespace {

/// `calls_total{function="resize"}` in two.
struct Name {
    std::string_view family;
    std::string_view labels; ///< Without the braces.
};

Name parse_name(std::string_view name) {
    auto brace = name.find('{');
    if (brace == std::string_view::npos) {
        return {.family = name, .labels = {}};
    }
    return {.family = name.substr(0, brace),
            .labels = name.substr(brace + 1, name.size() - brace - 2)};
}

/// The lines of each family, which must stand together.
class Families {
public:
    explicit Families(std::string_view prefix) : prefix_(prefix) {}

    void add(const Name& name, std::string_view type, std::string_view suffix,
             std::string_view more, const std::string& value) {
        auto& lines = lines_[std::string{name.family}];
        if (lines.empty()) {
            lines = fmt::format("# TYPE {}{} {}\n", prefix_, name.family, type);
        }
        auto separator = name.labels.empty() || more.empty() ? "" : ",";
        auto labels = fmt::format("{}{}{}", name.labels, separator, more);
        fmt::format_to(std::back_inserter(lines), "{}{}{}{} {}\n", prefix_, name.family, suffix,
                       labels.empty() ? labels : "{" + labels + "}", value);
    }

    void add(const Name& name, const Histogram::Reading& reading) {
        auto below = std::uint64_t{0};
        for (auto at = std::size_t{0}; at < reading.counts.size(); ++at) {
            below += reading.counts[at];
            auto bound = at == Histogram::bounds.size()
                             ? std::string{"+Inf"}
                             : fmt::format("{}", static_cast<double>(Histogram::bounds[at]) /
                                                     nanos_per_second);
            add(name, "histogram", "_bucket", fmt::format("le=\"{}\"", bound),
                fmt::format("{}", below));
        }
        add(name, "histogram", "_sum", "", fmt::format("{}", reading.seconds));
        add(name, "histogram", "_count", "", fmt::format("{}", reading.count));
    }

    std::string text() const {
        auto text = std::string{};
        for (const auto& [family, lines] : lines_) {
            text += lines;
        }
        return text;
    }

private:
    std::string_view prefix_;
    std::map<std::string, std::string> lines_;
};

} // namespace

std::string Metrics::to_prometheus(std::string_view prefix) const {
    auto lock = std::lock_guard{mutex_};
    auto families = Families{prefix};
    for (const auto& [name, counter] : counters_) {
        families.add(parse_name(name), "counter", "", "", fmt::format("{}", counter.value()));
    }
    for (const auto& [name, gauge] : gauges_) {
        families.add(parse_name(name), "gauge", "", "", fmt::format("{}", gauge.value()));
    }
    for (const auto& [name, histogram] : histograms_) {
        families.add(parse_name(name), histogram.read());
    }
    return families.text();
}

std::string Metrics::labelled(
    std::string_view name,
    std::initializer_list<std::pair<std::string_view, std::string_view>> labels) {
    auto text = std::string{name};
    auto separator = '{';
    for (const auto& [label, value] : labels) {
        text += separator;
        text += label;
        text += "=\"";
        for (auto c : value) {
            if (c == '\\' || c == '"') {
                text += '\\';
            }
            text += c == '\n' ? ' ' : c;
        }
        text += '"';
        separator = ',';
    }
    return text + '}';
}

} // namespace sluice::observe

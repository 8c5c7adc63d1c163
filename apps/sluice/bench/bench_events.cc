#include "sluice/bench/bench_events.h"

#include <array>
#include <cstdio>
#include <future>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/random.h"
#include "event/codec.h"
#include "sluice/bench/bench_batches.h"
#include "sluice/bench/bench_bus.h"
#include "trigger/history.h"
#include "trigger/spec.h"

namespace sluice::app {

namespace {

constexpr auto bare_chunk_bytes = std::size_t{512 * 1024};
constexpr auto bare_wait = std::chrono::seconds{1};
constexpr auto order_seed = std::uint64_t{11};
constexpr auto text_seed = std::uint64_t{12};

/// Text that repeats as much as people's does: history is stored compressed.
std::string words_of(std::size_t bytes, Random& random) {
    constexpr auto words = std::to_array<std::string_view>(
        {"order",  "total",    "customer", "paid",    "shipped",  "warehouse", "north",
         "south",  "pending",  "priority", "express", "invoice",  "amount",    "currency",
         "EUR",    "created",  "updated",  "status",  "returned", "gift",      "Lisbon",
         "Vienna", "tracking", "carrier",  "weight",  "17.50",    "209",       "4410"});
    auto text = std::string{};
    while (text.size() < bytes) {
        text += words[random.below(words.size())];
        text += ' ';
    }
    text.resize(bytes);
    return text;
}

/// The events of noop and join: each matches one of the chosen triggers, or none.
struct EventLoad {
    std::vector<std::uint64_t> chosen; ///< Triggers that get events.
    std::uint64_t events_each = 0;

    static EventLoad choose(const BenchOptions& options) {
        auto matching = options.matching != 0 ? options.matching
                                              : std::min<std::uint64_t>(options.triggers, 100);
        matching = std::min(matching, options.triggers);
        auto load = EventLoad{};
        auto random = Random{7};
        if (matching == options.triggers) {
            for (auto at = std::uint64_t{0}; at < matching; ++at) {
                load.chosen.push_back(at);
            }
        } else {
            // Distinct: one from each of as many equal stretches.
            auto stretch = options.triggers / matching;
            for (auto at = std::uint64_t{0}; at < matching; ++at) {
                load.chosen.push_back(at * stretch + random.below(stretch));
            }
        }
        load.events_each = std::max<std::uint64_t>(1, options.events / matching);
        return load;
    }

    std::uint64_t events() const { return chosen.size() * events_each; }

    /// One after the other, so that they take no memory where memory is measured.
    void each_line(const std::string& run, const std::string& type, std::size_t event_bytes,
                   const std::function<void(std::string)>& take) const {
        auto order = std::vector<std::uint64_t>{};
        for (auto trigger : chosen) {
            order.insert(order.end(), events_each, trigger);
        }
        auto shuffle = Random{order_seed};
        for (auto at = order.size(); at > 1; --at) {
            std::swap(order[at - 1], order[shuffle.below(at)]);
        }
        auto random = Random{text_seed};
        for (auto at = std::size_t{0}; at < order.size(); ++at) {
            auto head = fmt::format(
                R"({{"specversion":"1.0","id":"{}","source":"bench","type":"{}","subject":"s{}","time":"2026-01-01T00:00:00Z","run":"{}","data":{{"fill":")",
                at, type, order[at], run);
            auto fill = event_bytes > head.size() + 3 ? event_bytes - head.size() - 3 : 0;
            take(head + words_of(fill, random) + "\"}}");
        }
    }

    std::vector<std::string> lines(const std::string& run, const std::string& type,
                                   std::size_t event_bytes) const {
        auto made = std::vector<std::string>{};
        made.reserve(events());
        each_line(run, type, event_bytes,
                  [&](std::string line) { made.push_back(std::move(line)); });
        return made;
    }
};

Value join_form(const BenchOptions& options, const EventLoad& load) {
    auto triggers = std::vector<Value>{};
    auto condition = Value::object({{"count", static_cast<std::int64_t>(load.events_each)}});
    for (auto at = std::uint64_t{0}; at < options.triggers; ++at) {
        auto on = Value::object({{"type", "join"}, {"subject", fmt::format("s{}", at)}});
        triggers.push_back(
            Value::object({{"id", fmt::format("t{}", at)}, {"on", on}, {"condition", condition}}));
    }
    return Value::object(
        {{"name", "join"}, {"unmatched", "drop"}, {"triggers", Value::list(std::move(triggers))}});
}

/// Parse, match and count the same events on one core, without a store.
double measure_pure(const LinesInMemory& lines, const trigger::TriggerSet& set) {
    auto codec = event::Codec{};
    auto counts = std::vector<std::uint64_t>(set.size());
    auto matches = trigger::Matches{};
    auto events = std::uint64_t{0};
    auto begin = std::chrono::steady_clock::now();
    for (const auto& chunk : lines.chunks()) {
        for (const auto& record : chunk.records) {
            auto text = std::string_view{*chunk.bytes}.substr(record.begin, record.size);
            auto event = codec.parse_shared(text, chunk.bytes);
            set.index().find(event->type(), event->subject(), matches);
            for (const auto& match : matches) {
                ++counts[match.trigger.raw()];
            }
            ++events;
        }
    }
    return static_cast<double>(events) / seconds_since(begin);
}

/// Parse, match and count what a source hands over, and let go of it.
Result<void> count_matches(event::Source& source, const trigger::TriggerSet& set) {
    auto codec = event::Codec{};
    auto counts = std::vector<std::uint64_t>(set.size());
    auto matches = trigger::Matches{};
    for (auto is_last = false; !is_last;) {
        auto chunk = TRY(source.read(bare_chunk_bytes, bare_wait));
        for (const auto& record : chunk.records) {
            auto text = std::string_view{*chunk.bytes}.substr(record.begin, record.size);
            auto event = TRY(codec.parse_shared(text, chunk.bytes));
            set.index().find(event.type(), event.subject(), matches);
            for (const auto& match : matches) {
                ++counts[match.trigger.raw()];
            }
        }
        if (!chunk.records.empty()) {
            source.confirm(chunk.partition, chunk.records.back().number);
        }
        is_last = chunk.is_last;
    }
    return {};
}

class EventsBench {
public:
    EventsBench(const BenchOptions& options, BenchWorld& world)
        : options_(options), world_(world), load_(EventLoad::choose(options)) {}

    Result<void> prepare() {
        auto form = join_form(options_, load_);
        TRY(world_.define(form));
        auto hash = TRY(world_.engine().catalog().find("default", "join"));
        set_ = TRY(world_.engine().catalog().set(hash));
        return {};
    }

    /// Events per second of one repetition; what fired is checked.
    Result<double> run(const std::string& type, BenchFigures& figures) {
        // Over a bus the events were written beforehand, for the run of their partition.
        auto run = run_name(bus_ ? bus_->number() : ++runs_);
        auto seconds = 0.0;
        TRY(world_.start(run, "join"));
        auto before = world_.engine().stats();
        auto fed = options_.bus.empty() ? TRY(feed_lines(run, type, seconds, figures))
                                        : TRY(feed_bus(seconds, figures));
        auto rate = static_cast<double>(fed) / seconds;
        auto after = world_.engine().stats();
        auto fired = after.fired - before.fired;
        auto expected = type == "join" ? load_.chosen.size() : 0;
        if (fed != load_.events() || fired != expected) {
            return fail(Errc::Internal, "{} events gave {} firings: expected {} and {}", fed, fired,
                        load_.events(), expected);
        }
        figures.events = fed;
        figures.fired = fired;
        figures.commits = std::max<std::uint64_t>(1, after.commits - before.commits);
        TRY(world_.remove(run)); // Its seen ids are no part of the next repetition's memory.
        return rate;
    }

    /// A partition for each time that events are read, in that order, all filled beforehand: what
    /// is compared is then measured within seconds, was written within seconds, and with memory
    /// that was used before. The first one is the warm-up's alone: what was handed out once comes
    /// back in another way.
    Result<void> fill_bus(const std::vector<std::string>& types) {
        bus_ = TRY(BusLoad::open(options_.bus, static_cast<std::uint16_t>(types.size()),
                                 world_.diagnostics()));
        auto is_terminal = ::isatty(STDERR_FILENO) == 1;
        for (auto at = std::size_t{0}; at < types.size(); ++at) {
            if (is_terminal) {
                fmt::print(stderr, "\rfilling partition {} of {} ", at + 1, types.size());
            }
            TRY(go_on(options_));
            bus_->go_to(at);
            TRY(bus_->fill([&](const std::function<void(std::string)>& take) {
                load_.each_line(run_name(bus_->number()), types[at], options_.event_bytes, take);
            }));
        }
        if (is_terminal) {
            fmt::print(stderr, "\r\x1b[K");
        }
        bus_->go_to(0);
        TRY(bus_->warm_up(load_.events(), options_));
        bus_->next();
        return {};
    }

    /// Keeps what is committed for the store's ceiling; of a bench without a bus it is the warm-up.
    Result<void> rehearse(const std::string& type) {
        auto figures = BenchFigures{};
        world_.store().begin_recording();
        std::ignore = TRY(run(type, figures));
        batches_ = world_.store().end_recording();
        return {};
    }

    /// The broker's own group, and reading by position: with nothing done about the events.
    Result<void> measure_bus(BenchFigures& figures) {
        TRY(go_on(options_));
        auto ceiling = TRY(bus_->measure(load_.events()));
        bus_->next();
        figures.ceiling_group_events_per_second.add(ceiling.group_events_per_second);
        if (ceiling.position_events_per_second > 0) {
            figures.ceiling_position_events_per_second.add(ceiling.position_events_per_second);
        }
        return {};
    }

    /// What nobody can leave out: reading the events, looking at each and committing what came of
    /// them, side by side and with no engine.
    Result<void> measure_bare(BenchFigures& figures) {
        auto source = TRY(bus_->open_source());
        auto counted = CountedSource{*source, bus_->partition(), load_.events(), options_};
        TRY(counted.resume(bus_->partition(), 0));
        auto committed = std::async(std::launch::async,
                                    [&] { return commit_again(world_.store().bare(), batches_); });
        auto read = count_matches(counted, *set_);
        auto read_seconds = seconds_since(counted.began());
        auto commit_seconds = TRY(committed.get());
        TRY(read);
        bus_->next();
        figures.ceiling_bare_events_per_second.add(static_cast<double>(load_.events()) /
                                                   std::max(read_seconds, commit_seconds));
        return {};
    }

    Result<void> measure_ceilings(BenchFigures& figures) {
        auto run = std::string{"bench-0"};
        auto lines = LinesInMemory{run, load_.lines(run, "join", options_.event_bytes)};
        figures.ceiling_events_per_second.add(measure_pure(lines, *set_));
        auto seconds = TRY(commit_again(world_.store().bare(), batches_));
        figures.ceiling_store_events_per_second.add(static_cast<double>(figures.events) / seconds);
        auto bytes = std::size_t{0};
        for (const auto& batch : batches_) {
            bytes += batch.bytes;
        }
        figures.ceiling_sync_us.add(measure_sync_us(world_.path(), bytes / batches_.size(), 30));
        return {};
    }

private:
    Result<std::uint64_t> feed_lines(const std::string& run, const std::string& type,
                                     double& seconds, BenchFigures& figures) {
        auto source = LinesInMemory{"bench/" + run, load_.lines(run, type, options_.event_bytes)};
        auto begin = std::chrono::steady_clock::now();
        auto fed = TRY(feed(source, figures));
        seconds = seconds_since(begin);
        return fed;
    }

    Result<std::uint64_t> feed(event::Source& source, BenchFigures& figures) {
        auto before = cpu_seconds();
        auto fed = TRY(world_.engine().feed(source, {}));
        figures.cpu_us_per_event.add((cpu_seconds() - before) * 1e6 /
                                     static_cast<double>(load_.events()));
        return fed;
    }

    Result<std::uint64_t> feed_bus(double& seconds, BenchFigures& figures) {
        auto source = TRY(bus_->open_source());
        auto counted = CountedSource{*source, bus_->partition(), load_.events(), options_};
        auto fed = TRY(feed(counted, figures));
        seconds = seconds_since(counted.began());
        figures.rss_bytes = std::max(figures.rss_bytes, resident_bytes());
        bus_->next();
        return fed;
    }

    static std::string run_name(std::uint64_t number) {
        return fmt::format("bench-{}-{}", ::getpid(), number);
    }

    const BenchOptions& options_;
    BenchWorld& world_;
    EventLoad load_;
    std::unique_ptr<BusLoad> bus_; ///< Null: events come from memory.
    std::shared_ptr<const trigger::TriggerSet> set_;
    std::vector<RecordedBatch> batches_;
    std::uint64_t runs_ = 0;
};

/// Each is the first in turn: what the one before left behind is still being tidied up.
std::string first_of_pair(std::uint32_t pair) {
    return pair % 2 == 0 ? "nothing" : "join";
}

std::string second_of_pair(std::uint32_t pair) {
    return first_of_pair(pair + 1);
}

/// Of which types each partition's events are, in the order in which they are read.
std::vector<std::string> partition_types(const BenchOptions& options, const std::string& type) {
    // Of the warm-up, then each run's beside its ceiling's.
    auto types = std::vector<std::string>{"join"};
    for (auto at = std::uint32_t{0}; at < options.repetitions; ++at) {
        types.insert(types.end(), {type, type});
    }
    for (auto at = std::uint32_t{0}; at < options.pairs; ++at) {
        types.insert(types.end(), {first_of_pair(at), second_of_pair(at)});
    }
    types.push_back(type);                                  // Of the rehearsal.
    types.insert(types.end(), options.repetitions, "join"); // Of the bare work.
    return types;
}

Result<void> run_pairs(const BenchOptions& options, EventsBench& bench, BenchFigures& figures) {
    for (auto at = std::uint32_t{0}; at < options.pairs; ++at) {
        auto first = TRY(bench.run(first_of_pair(at), figures));
        auto second = TRY(bench.run(second_of_pair(at), figures));
        figures.noop_over_join.add(first_of_pair(at) == "join" ? second / first : first / second);
    }
    return {};
}

Result<void> repeat_over_bus(const BenchOptions& options, EventsBench& bench,
                             const std::string& type, BenchFigures& figures) {
    TRY(bench.fill_bus(partition_types(options, type)));
    // Each is the first in turn.
    for (auto at = std::uint32_t{0}; at < options.repetitions; ++at) {
        if (at % 2 == 1) {
            TRY(bench.measure_bus(figures));
        }
        figures.events_per_second.add(TRY(bench.run(type, figures)));
        if (at % 2 == 0) {
            TRY(bench.measure_bus(figures));
        }
    }
    TRY(run_pairs(options, bench, figures));
    // Behind them: what is written down takes memory, which is a figure here.
    TRY(bench.rehearse(type));
    for (auto at = std::uint32_t{0}; at < options.repetitions; ++at) {
        TRY(bench.measure_bare(figures));
        if (!options.store.empty()) {
            TRY(bench.measure_ceilings(figures));
        }
    }
    return {};
}

Result<void> repeat_from_memory(const BenchOptions& options, EventsBench& bench,
                                const std::string& type, BenchFigures& figures) {
    TRY(bench.rehearse(type));
    for (auto at = std::uint32_t{0}; at < options.repetitions; ++at) {
        figures.events_per_second.add(TRY(bench.run(type, figures)));
        TRY(bench.measure_ceilings(figures));
    }
    return run_pairs(options, bench, figures);
}

} // namespace

Result<void> bench_events(const BenchOptions& options, BenchWorld& world, BenchFigures& figures) {
    auto bench = EventsBench{options, world};
    TRY(bench.prepare());
    auto type = std::string{options.workload == "join" ? "join" : "nothing"};
    return options.bus.empty() ? repeat_from_memory(options, bench, type, figures)
                               : repeat_over_bus(options, bench, type, figures);
}

} // namespace sluice::app

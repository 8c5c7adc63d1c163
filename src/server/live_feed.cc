#include "server/live_feed.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "reactor/thread.h"
#include "server/inspect/history_view.h"
#include "server/internal/requests.h"
#include "trigger/history.h"
#include "value/json.h"
#include "value/wording.h"

namespace sluice::server {

namespace {

/// An event is told in at least so many bytes, so that of a window no more need be read.
constexpr auto entry_bytes_min = std::size_t{128};
constexpr auto metrics_interval = std::chrono::seconds{1};
constexpr auto pace_min = std::chrono::milliseconds{5};
constexpr auto pace_max = std::chrono::seconds{1};

std::optional<std::uint64_t> number_behind(std::string_view id, std::string_view prefix) {
    auto number = std::uint64_t{0};
    if (!id.starts_with(prefix)) {
        return std::nullopt;
    }
    id.remove_prefix(prefix.size());
    auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number);
    return error == std::errc{} && end == id.data() + id.size() ? std::optional{number}
                                                                : std::nullopt;
}

} // namespace

LiveFeed::LiveFeed(const Clock& clock, std::function<Value()> metrics, LiveOptions options)
    : clock_(clock),
      metrics_(std::move(metrics)),
      options_(options),
      boot_(fmt::format("{:x}", clock.wall().time_since_epoch().count())),
      mail_({.spin_max = Nanos{0}}) {}

LiveFeed::~LiveFeed() {
    stop();
}

engine::Watch LiveFeed::watch() {
    return {
        .wants = [this](const engine::RunName& run) { return wants(run); },
        .decided = [this](const engine::RunName& run,
                          std::string_view record) { take_record(run, record); },
        .wants_runs =
            [this] { return topic(LiveTopic::Runs).is_followed.load(std::memory_order_relaxed); },
        .listed = [this](const engine::RunName& run,
                         const engine::RunSummary& summary) { take_listed(run, summary); }};
}

std::size_t LiveFeed::slot_of(const engine::RunName& run) const {
    auto hash = std::hash<std::string>{}(run.id) ^ std::hash<std::string>{}(run.space);
    return hash % interest_.size();
}

bool LiveFeed::wants(const engine::RunName& run) const {
    if (watched_.load(std::memory_order_relaxed) == 0) {
        return false;
    }
    return topic(LiveTopic::Events).is_followed.load(std::memory_order_relaxed) ||
           interest_[slot_of(run)].load(std::memory_order_relaxed) > 0;
}

void LiveFeed::take_record(const engine::RunName& run, std::string_view record) {
    if (queued_bytes_.fetch_add(record.size(), std::memory_order_relaxed) >
        options_.queued_bytes_max) {
        queued_bytes_.fetch_sub(record.size(), std::memory_order_relaxed);
        dropped_.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    if (!mail_.try_push(Record{.run = run, .bytes = std::string{record}})) {
        queued_bytes_.fetch_sub(record.size(), std::memory_order_relaxed);
        dropped_.fetch_add(1, std::memory_order_relaxed);
    }
}

void LiveFeed::take_listed(const engine::RunName& run, const engine::RunSummary& summary) {
    if (!mail_.try_push(Listed{.run = run, .summary = summary})) {
        dropped_.fetch_add(1, std::memory_order_relaxed);
    }
}

std::optional<LiveReaderId> LiveFeed::reserve() {
    if (reserved_.fetch_add(1) >= options_.readers_max) {
        reserved_.fetch_sub(1);
        return std::nullopt;
    }
    return LiveReaderId{last_id_.fetch_add(1) + 1};
}

void LiveFeed::join(LiveReaderId id, LiveTopic where, const engine::RunName& run, LiveReader reader,
                    const std::string& last_id) {
    // From here on lanes hand over what it will be told; what they did before is history.
    if (where == LiveTopic::Run) {
        interest_[slot_of(run)].fetch_add(1);
        watched_.fetch_add(1);
    } else if (!topic(where).is_followed.exchange(true) && where == LiveTopic::Events) {
        watched_.fetch_add(1);
    }
    mail_.push_unbounded(Joining{
        .id = id, .topic = where, .run = run, .reader = std::move(reader), .last_id = last_id});
}

void LiveFeed::leave(LiveReaderId id) {
    mail_.push_unbounded(Leaving{.id = id});
}

void LiveFeed::go_live(LiveReaderId id, std::uint64_t next) {
    mail_.push_unbounded(Arriving{.id = id, .next = next});
}

void LiveFeed::take(Joining&& joining) {
    auto id = joining.id;
    auto is_gone = gone_early_.erase(id) > 0;
    places_[id] = {joining.topic, joining.run};
    if (joining.topic != LiveTopic::Run) {
        join_topic(std::move(joining));
    } else {
        auto [found, is_new] = runs_.try_emplace(
            joining.run, RunChannel{.channel = {"", options_.run}, .records = {}});
        found->second.channel.join(id, std::move(joining.reader));
    }
    if (is_gone) {
        take(Leaving{.id = id});
    }
}

void LiveFeed::join_topic(Joining&& joining) {
    auto& topic_of = topic(joining.topic);
    if (!topic_of.channel) {
        topic_of.channel.emplace(fmt::format("{}.{}-", boot_, ++followed_), options_.all);
        topic_of.dropped = dropped_.load();
    }
    // It may have rested between the join and this.
    if (!topic_of.is_followed.exchange(true) && joining.topic == LiveTopic::Events) {
        watched_.fetch_add(1);
    }
    auto& channel = *topic_of.channel;
    if (!joining.last_id.empty()) {
        joining.reader.after = number_behind(joining.last_id, channel.prefix());
        if (!joining.reader.after) {
            joining.reader.stream->offer(
                sent_event("gap", fmt::format("{}{}", channel.prefix(), channel.last()), "{}"));
        }
    }
    channel.join(joining.id, std::move(joining.reader));
}

void LiveFeed::take(Leaving&& leaving) {
    auto found = places_.find(leaving.id);
    if (found == places_.end()) {
        gone_early_.insert(leaving.id);
        return;
    }
    auto [where, run] = found->second;
    places_.erase(found);
    reserved_.fetch_sub(1);
    if (where == LiveTopic::Run) {
        leave_run(run, leaving.id);
        return;
    }
    auto& left = topic(where);
    left.channel->leave(leaving.id);
    left.left = clock_.steady();
}

void LiveFeed::leave_run(const engine::RunName& run, LiveReaderId id) {
    auto found = runs_.find(run);
    found->second.channel.leave(id);
    interest_[slot_of(run)].fetch_sub(1);
    watched_.fetch_sub(1);
    if (found->second.channel.readers() == 0) {
        runs_.erase(found);
    }
}

void LiveFeed::take(Arriving&& arriving) {
    auto place = places_.find(arriving.id);
    if (place != places_.end()) {
        runs_.at(place->second.second).channel.go_live(arriving.id, arriving.next);
    }
}

/// Of one run only the newest are read: readers could not be told more.
void LiveFeed::take(Record&& record) {
    queued_bytes_.fetch_sub(record.bytes.size(), std::memory_order_relaxed);
    if (topic(LiveTopic::Events).channel) {
        read_events(record.run, record.bytes);
    }
    auto found = runs_.find(record.run);
    if (found == runs_.end()) {
        return;
    }
    auto& run = found->second;
    run.bytes += record.bytes.size();
    run.records.push_back(std::move(record.bytes));
    while (run.records.size() > 1 &&
           run.bytes - run.records.front().size() > options_.run.window_bytes) {
        run.bytes -= run.records.front().size();
        run.records.pop_front();
    }
}

void LiveFeed::read_records(RunChannel& run) {
    for (const auto& record : std::exchange(run.records, {})) {
        auto entries = trigger::decode_record(record, options_.run.window_bytes / entry_bytes_min);
        if (!entries) {
            continue; // What was stored was read to be sent: the gap is told.
        }
        for (const auto& entry : *entries) {
            run.channel.add(
                {.number = entry.number.raw(),
                 .name = "decided",
                 .data = value::to_json(inspect::entry_view(entry, inspect::EntryDetail::Changes)),
                 .space = {}});
        }
    }
    run.bytes = 0;
}

/// A round reads at most a window of them; the rest is a gap.
void LiveFeed::read_events(const engine::RunName& run, const std::string& record) {
    events_read_ += record.size();
    auto entries =
        events_read_ > options_.all.window_bytes
            ? Result<std::vector<trigger::Entry>>{}
            : trigger::decode_record(record, options_.all.window_bytes / entry_bytes_min);
    if (!entries || entries->empty()) {
        topic(LiveTopic::Events).has_skipped = true;
        return;
    }
    for (const auto& entry : *entries) {
        auto view = inspect::entry_view(entry, inspect::EntryDetail::Event).with("run", run.id);
        auto about = *view.find("json");
        tell(LiveTopic::Events, {.name = "event",
                                 .data = value::to_json(view),
                                 .space = run.space,
                                 .about = std::move(about)});
    }
}

void LiveFeed::take(Listed&& listed) {
    if (!topic(LiveTopic::Runs).channel) {
        return;
    }
    auto view = view_of_run(engine::ListedRun{.run = listed.run, .summary = listed.summary});
    tell(LiveTopic::Runs,
         {.name = "run", .data = value::to_json(view), .space = listed.run.space, .about = view});
}

/// What was left out before it has a number too, which is not told: that is the gap.
void LiveFeed::tell(LiveTopic where, LiveMessage message) {
    auto& told = topic(where);
    auto dropped = dropped_.load(std::memory_order_relaxed);
    told.has_skipped |= std::exchange(told.dropped, dropped) != dropped;
    message.number = told.channel->last() + (std::exchange(told.has_skipped, false) ? 2 : 1);
    told.channel->add(std::move(message));
}

void LiveFeed::add_metrics() {
    if (!topic(LiveTopic::Metrics).channel || clock_.steady() - measured_ < metrics_interval) {
        return;
    }
    measured_ = clock_.steady();
    tell(LiveTopic::Metrics,
         {.name = "metrics",
          .data = value::to_json(Value::object({{"time", clock_.wall()}, {"metrics", metrics_()}})),
          .space = {}});
}

void LiveFeed::rest_if_alone(LiveTopic where) {
    auto& idle = topic(where);
    if (!idle.channel || idle.channel->readers() > 0 ||
        clock_.steady() - idle.left < options_.linger) {
        return;
    }
    idle.channel.reset();
    if (idle.is_followed.exchange(false) && where == LiveTopic::Events) {
        watched_.fetch_sub(1);
    }
}

void LiveFeed::step() {
    if (mail_.pop_all(items_)) {
        for (auto& item : items_) {
            std::visit([this](auto& each) { take(std::move(each)); }, item);
        }
        items_.clear();
    }
    events_read_ = 0;
    add_metrics();
    serve();
    for (auto where : {LiveTopic::Runs, LiveTopic::Events, LiveTopic::Metrics}) {
        rest_if_alone(where);
    }
}

void LiveFeed::serve() {
    auto is_time_to_beat = clock_.steady() - beaten_ >= options_.heartbeat;
    auto serve_one = [&](LiveChannel& channel) {
        channel.flush();
        if (is_time_to_beat) {
            channel.beat();
        }
    };
    for (auto& [name, run] : runs_) {
        read_records(run);
        serve_one(run.channel);
    }
    for (auto& each : topics_) {
        if (each.channel) {
            serve_one(*each.channel);
        }
    }
    if (is_time_to_beat) {
        beaten_ = clock_.steady();
    }
}

Nanos LiveFeed::pace() const {
    auto round = Nanos{std::chrono::seconds{1}} * static_cast<std::int64_t>(places_.size()) /
                 static_cast<std::int64_t>(options_.offers_per_second_max);
    return std::clamp<Nanos>(round, pace_min, pace_max);
}

void LiveFeed::start() {
    thread_ =
        reactor::start_thread("live", [this](const std::stop_token& stop) { run_thread(stop); });
}

void LiveFeed::stop() {
    mail_.close();
    thread_ = {};
}

void LiveFeed::run_thread(const std::stop_token& stop) {
    while (!stop.stop_requested() && !mail_.is_closed()) {
        auto has_unread =
            std::ranges::any_of(
                runs_, [](const auto& each) { return each.second.channel.has_unread(); }) ||
            std::ranges::any_of(topics_, [](const auto& each) {
                return each.channel && each.channel->has_unread();
            });
        auto is_alone = places_.empty() && !topic(LiveTopic::Runs).channel &&
                        !topic(LiveTopic::Events).channel && !topic(LiveTopic::Metrics).channel;
        auto now = std::chrono::steady_clock::now();
        if (is_alone) {
            mail_.wait();
        } else if (!has_unread) {
            mail_.wait(now + metrics_interval);
        }
        step();
        std::this_thread::sleep_for(pace());
    }
}

} // namespace sluice::server

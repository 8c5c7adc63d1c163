#include "bus.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine/feed.h"
#include "event/builder.h"
#include "event/codec.h"
#include "trigger/testing/packed_text.h"

namespace sluice::simulation {

namespace {

constexpr auto parts_under_way_max = std::uint64_t{6};

} // namespace

Bus::Bus(Timeline& timeline, Random& random, ActionLog& log, Post post, Stored stored)
    : timeline_(timeline),
      random_(random),
      log_(log),
      post_(std::move(post)),
      stored_(std::move(stored)) {}

void Bus::publish(const RunPlan& plan) {
    auto before = messages_.size();
    for (const auto& event : plan.events) {
        if (!event.by_bus) {
            continue;
        }
        if (random_.chance(0.05)) {
            auto id = fmt::format("stray-{}", ++strays_);
            messages_.push_back({.run = "nobody", .id = id, .type = "item", .is_stray = true});
        }
        messages_.push_back({.run = plan.id, .id = event.id, .type = event.type, .key = event.key});
    }
    if (messages_.size() > before) {
        read_later(100);
    }
}

void Bus::read_again() {
    ++reader_;
    is_resumed_ = false;
    under_way_ = 0;
    if (!messages_.empty()) {
        read_later(500);
    }
}

void Bus::read_later(std::uint64_t within_ms) {
    timeline_.after(std::chrono::microseconds{random_.below(within_ms * 1000)},
                    [this, reader = reader_] {
                        if (reader == reader_) {
                            read();
                        }
                    });
}

void Bus::resume() {
    positions_ = engine::positions_of(stored_(), partition).value();
    next_ = std::ranges::min(positions_) + 1;
    is_resumed_ = true;
    log_.add(timeline_.now(), "bus is read from {} on", next_);
}

void Bus::read() {
    if (!is_resumed_) {
        resume();
    }
    if (next_ > messages_.size()) {
        if (under_way_ == 0) {
            move_along();
        }
        return;
    }
    if (under_way_ >= parts_under_way_max) {
        return; // It goes on when one of them is heard of.
    }
    if (random_.chance(0.02)) {
        leave();
        return;
    }
    auto last = std::min<std::uint64_t>(messages_.size(), next_ + random_.below(4));
    hand_out(std::exchange(next_, last + 1), last);
    if (random_.chance(0.1)) {
        move_along();
    }
    read_later(50);
}

void Bus::hand_out(std::uint64_t first, std::uint64_t last) {
    auto shards = stored_().shard_count();
    auto parts = std::map<ShardId, engine::EventsInput>{};
    auto is_of_one_run = true;
    for (auto number = first; number <= last; ++number) {
        const auto& message = messages_[number - 1];
        auto shard = engine::shard_of(engine::RunName{.id = message.run}, shards);
        if (number <= positions_[shard.raw()]) {
            continue;
        }
        auto& part = parts[shard];
        part.shard = shard;
        part.space = "default";
        part.partition = partition;
        part.numbers.push_back(number);
        is_of_one_run &= message.run == messages_[first - 1].run;
        part.events.push_back(event::Builder{message.id, source, message.type}
                                  .run(message.run)
                                  .data(Value::object({{"k", message.key}}))
                                  .build());
    }
    for (auto& [shard, part] : parts) {
        log_.add(timeline_.now(), "bus hands {} events from {} on to shard {}", part.events.size(),
                 part.numbers.front(), shard.raw());
        ++under_way_;
        if (is_of_one_run && random_.chance(0.5)) {
            pack(part);
        }
        part.done = [this, reader = reader_](const Result<engine::Receipt>& receipt) {
            heard(reader, receipt);
        };
        post_(std::move(part));
    }
}

/// Its events lie in one text, which came packed.
void Bus::pack(engine::EventsInput& part) {
    constexpr auto lead = std::string_view{"lead"};
    auto text = std::string{};
    for (const auto& event : part.events) {
        text.append(lead).append(event.json());
    }
    auto size = text.size();
    text.append(event::Codec::padding_bytes, ' ');
    auto bytes = std::make_shared<const std::string>(std::move(text));
    auto rest = std::string_view{*bytes};
    auto codec = event::Codec{};
    for (auto& event : part.events) {
        auto json = rest.substr(lead.size(), event.json().size());
        event = codec.parse_shared(json, bytes).value();
        rest.remove_prefix(lead.size() + json.size());
    }
    using Kind = event::FrameUnpacker::Kind;
    auto kind = part.numbers.front() % 2 == 0 ? Kind::Lz4 : Kind::Zstd;
    part.packed = trigger::testing::packed_text(bytes, size, part.events.size(), 1000, kind);
}

void Bus::heard(std::uint64_t reader, const Result<engine::Receipt>& receipt) {
    if (reader != reader_) {
        return;
    }
    if (!receipt) {
        log_.add(timeline_.now(), "bus gets a part back: {}", receipt.error().message);
        read_again();
        return;
    }
    --under_way_;
    read_later(20);
}

/// Tells each shard how far the bus is, as feed_source does now and then.
void Bus::move_along() {
    log_.add(timeline_.now(), "bus moves along to {}", next_ - 1);
    for (auto shard = std::uint16_t{0}; shard < stored_().shard_count(); ++shard) {
        post_(engine::MoveInput{
            .shard = ShardId{shard}, .partition = partition, .number = next_ - 1, .done = {}});
    }
}

/// Whoever reads is stopped, and another begins.
void Bus::leave() {
    log_.add(timeline_.now(), "bus is left");
    for (auto shard = std::uint16_t{0}; shard < stored_().shard_count(); ++shard) {
        post_(engine::LeaveInput{.shard = ShardId{shard}, .partition = partition});
    }
    read_again();
}

} // namespace sluice::simulation

#include "event/codec.h"

#include <algorithm>
#include <utility>

#include "base/invariant.h"
#include "event/internal/envelope_reader.h"

namespace sluice::event {

namespace {

using internal::Scanner;

std::shared_ptr<char[]> copy_of(std::string_view text) {
    auto buffer = std::make_shared_for_overwrite<char[]>(text.size());
    std::ranges::copy(text, buffer.get());
    return buffer;
}

std::unexpected<Error> not_json(const Scanner& scanner, std::string_view what) {
    return fail(Errc::InvalidInput, "not a JSON batch: {} at byte {}", what, scanner.offset());
}

Result<void> check_size(std::string_view what, std::size_t bytes, std::size_t bytes_max) {
    if (bytes > bytes_max) {
        return fail(Errc::LimitExceeded, "the {} has {} bytes, the limit is {}", what, bytes,
                    bytes_max);
    }
    return {};
}

} // namespace

const std::size_t Codec::padding_bytes = 64;

struct Codec::State {
    explicit State(const Limits& limits_given) : limits(limits_given), reader(limits_given) {}

    Result<void> read_sized(Scanner& scanner) {
        TRY(reader.read(scanner));
        return check_size("event", reader.envelope().json.size(), limits.event_bytes_max);
    }

    Limits limits;
    internal::EnvelopeReader reader;
};

Codec::Codec(Limits limits) : state_(std::make_unique<State>(limits)) {
    INVARIANT(limits.depth_max <= internal::depth_max_hard, "a deeper text could not be read back");
}

Codec::~Codec() = default;
Codec::Codec(Codec&&) noexcept = default;
Codec& Codec::operator=(Codec&&) noexcept = default;

Result<Event> Codec::parse(std::string_view json) {
    TRY(check_size("event", json.size(), state_->limits.event_bytes_max));
    auto buffer = copy_of(json);
    auto copy = std::string_view{buffer.get(), json.size()};
    return parse_shared(copy, std::move(buffer));
}

Result<Event> Codec::parse_shared(std::string_view json, const std::shared_ptr<const void>& owner) {
    TRY(check_size("event", json.size(), state_->limits.event_bytes_max));
    auto scanner = Scanner{json};
    TRY(state_->reader.read(scanner));
    if (!scanner.is_at_end()) {
        return fail(Errc::InvalidInput, "text behind the event at byte {}: expected nothing",
                    scanner.offset());
    }
    return keep(owner);
}

Result<std::vector<Event>> Codec::parse_batch(std::string_view json) {
    TRY(check_size("batch", json.size(), state_->limits.batch_bytes_max));
    auto buffer = copy_of(json);
    auto scanner = Scanner{{buffer.get(), json.size()}};
    auto events = std::vector<Event>{};
    auto step = scanner.next_item(true);
    for (; step == Scanner::Step::Item; step = scanner.next_item(false)) {
        if (events.size() == state_->limits.batch_events_max) {
            return fail(Errc::LimitExceeded, "the batch has more events than {}",
                        state_->limits.batch_events_max);
        }
        if (auto read = state_->read_sized(scanner); !read) {
            auto& error = read.error();
            return fail(error.code, "event {}: {}", events.size(), error.message);
        }
        events.push_back(keep(buffer));
    }
    if (step == Scanner::Step::Fault) {
        return not_json(scanner, scanner.fault().what);
    }
    if (!scanner.is_at_end()) {
        return not_json(scanner, "text behind the array");
    }
    return events;
}

/// What was read last.
Event Codec::keep(std::shared_ptr<const void> owner) {
    const auto& envelope = state_->reader.own(owner);
    return Event{std::move(owner), envelope};
}

Result<Event> Codec::parse_trusted(std::string_view json,
                                   const std::shared_ptr<const void>& owner) {
    auto scanner = Scanner{json};
    TRY(state_->reader.read_trusted(scanner));
    if (!scanner.is_at_end()) {
        return fail(Errc::Corrupt, "text behind a stored event at byte {}", scanner.offset());
    }
    return keep(owner);
}

std::string to_batch_json(std::span<const Event> events) {
    auto json = std::string{"["};
    for (const auto& event : events) {
        json += json.size() > 1 ? "," : "";
        json += event.json();
    }
    return json + "]";
}

} // namespace sluice::event

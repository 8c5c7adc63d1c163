#include "connector/amqp/internal/stream/stream_lane.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace sluice::connector::amqp::internal::stream {

namespace {

// Two, so that one is on its way while the other is taken apart; at most these, since chunks may
// become larger than they were.
constexpr auto chunks_min = std::uint32_t{2};
constexpr auto chunks_max = std::uint32_t{256};
// Before one has come nobody knows how large they are.
constexpr auto chunks_first = std::uint32_t{10};

std::string_view name_of(Compression compression) {
    constexpr auto names =
        std::array<std::string_view, 5>{"nothing", "gzip", "snappy", "lz4", "zstd"};
    auto index = static_cast<std::size_t>(compression);
    return index < names.size() ? names[index] : "what is not known here";
}

} // namespace

StreamLane::StreamLane(Settings settings, std::uint8_t subscription, std::uint16_t prefetch)
    : Lane(std::move(settings)), subscription_(subscription), prefetch_(prefetch) {}

Result<void> StreamLane::begin(std::string_view bytes) {
    awaited_chunks_ -= std::min(awaited_chunks_, 1U);
    auto chunk = Chunk::parse(bytes);
    if (!chunk) {
        return fail(Errc::Unavailable, "stream {}: {}", name(), chunk.error().message);
    }
    chunk_ = *chunk;
    if (!chunk_.has_messages()) {
        return {};
    }
    chunk_records_ = chunk_.records();
    // A stream that ends before the offset that was asked for sends what comes next.
    auto is_resumed = position() > 0 && !settings().is_beyond && !settings().is_probe;
    if (is_resumed && !std::exchange(has_begun_, true) && chunk_.end_offset() < position()) {
        return fail(Errc::NotFound,
                    "stream {} has a new message {}, and all up to {} were read: it was made anew; "
                    "begin from 0 to read it",
                    name(), chunk_.end_offset(), position());
    }
    return {};
}

Result<bool> StreamLane::unpack(std::size_t bytes_max) {
    if (!chunk_.has_messages()) {
        return true;
    }
    if (settings().is_probe) {
        std::ignore = admit(chunk_.first_offset() + 1);
        return true;
    }
    auto entry = Entry{};
    for (auto begin = bytes(); bytes() - begin < bytes_max;) {
        auto is_there = chunk_.next(entry);
        if (!is_there) {
            return fail(Errc::Unavailable, "stream {}: {}", name(), is_there.error().message);
        }
        if (!*is_there) {
            return true;
        }
        TRY(add_entry(entry));
    }
    return false;
}

Result<void> StreamLane::add_entry(const Entry& entry) {
    auto number = entry.offset + 1;
    auto last = entry.offset + entry.records;
    TRY(check(number));
    if (!admit(number, last)) {
        return {};
    }
    if (entry.compression == Compression::None) [[likely]] {
        add(number, reader_.read(entry.bytes), entry.bytes);
        return {};
    }
    add_fault(last, entry.bytes,
              fmt::format("messages {} to {} are compressed by {}: send them without compression",
                          number, last, name_of(entry.compression)));
    return {};
}

std::uint16_t StreamLane::take_credit() {
    auto wanted = chunks_first;
    if (chunk_records_ > 0) {
        wanted = std::clamp(prefetch_ / chunk_records_, chunks_min, chunks_max);
    }
    if (settings().is_probe) {
        wanted = first_number() == 0 ? 1 : 0;
    }
    auto due = wanted - std::min(wanted, awaited_chunks_);
    // Of what is asked for often each is a little more work for the broker.
    if (due == 0 || due < wanted / 4) {
        return 0;
    }
    awaited_chunks_ += due;
    return static_cast<std::uint16_t>(due);
}

} // namespace sluice::connector::amqp::internal::stream

#include "connector/kafka/internal/fetch_protocol.h"

#include <chrono>

#include "base/bytes.h"

namespace sluice::connector::kafka::internal {

namespace {

constexpr auto fetch_key = std::uint16_t{1};
constexpr auto fetch_version = std::uint16_t{4};
constexpr auto versions_key = std::uint16_t{18};
constexpr auto versions_version = std::uint16_t{0};
constexpr auto no_replica = std::uint32_t{0xFFFFFFFF};
constexpr auto read_committed = std::uint8_t{1};
constexpr std::string_view client = "sluice";

void string(Encoder& out, std::string_view text) {
    out.u16(static_cast<std::uint16_t>(text.size()));
    out.raw(text);
}

/// One request is under way on a connection: its number need not tell it from others.
std::string request(std::uint16_t key, std::uint16_t version, std::string_view body) {
    auto head = std::string{};
    auto out = Encoder{head};
    out.u16(key);
    out.u16(version);
    out.u32(0);
    string(out, client);
    auto whole = std::string{};
    auto all = Encoder{whole};
    all.u32(static_cast<std::uint32_t>(head.size() + body.size()));
    all.raw(head);
    all.raw(body);
    return whole;
}

Result<std::int32_t> i32(Decoder& in) {
    return static_cast<std::int32_t>(TRY(in.u32()));
}

Result<std::int64_t> i64(Decoder& in) {
    return static_cast<std::int64_t>(TRY(in.u64()));
}

Result<std::string_view> string(Decoder& in) {
    return in.raw(TRY(in.u16()));
}

/// -1 stands for none.
Result<std::uint32_t> count(Decoder& in) {
    auto number = TRY(i32(in));
    return number < 0 ? 0U : static_cast<std::uint32_t>(number);
}

Result<Fetched> read_partition(std::string_view topic, Decoder& in) {
    auto fetched = Fetched{.topic = topic, .batches = {}};
    fetched.partition = TRY(i32(in));
    fetched.error = static_cast<std::int16_t>(TRY(in.u16()));
    fetched.end = TRY(i64(in));
    static_cast<void>(TRY(i64(in))); // Up to where nothing is undecided.
    for (auto left = TRY(count(in)); left > 0; --left) {
        auto producer = TRY(i64(in));
        fetched.aborted.push_back({.producer = producer, .first_offset = TRY(i64(in))});
    }
    fetched.batches = TRY(in.raw(TRY(count(in))));
    return fetched;
}

} // namespace

std::string versions_request() {
    return request(versions_key, versions_version, {});
}

std::string fetch_request(std::span<const Wanted> wanted, const FetchLimits& limits) {
    using std::chrono::milliseconds;
    auto body = std::string{};
    auto out = Encoder{body};
    out.u32(no_replica);
    out.u32(
        static_cast<std::uint32_t>(std::chrono::duration_cast<milliseconds>(limits.wait).count()));
    out.u32(1); // Any record will do.
    out.u32(static_cast<std::uint32_t>(limits.bytes_max));
    out.u8(read_committed);
    out.u32(static_cast<std::uint32_t>(wanted.size()));
    for (const auto& each : wanted) {
        string(out, each.topic);
        out.u32(1);
        out.u32(static_cast<std::uint32_t>(each.partition));
        out.u64(static_cast<std::uint64_t>(each.offset));
        out.u32(static_cast<std::uint32_t>(limits.partition_bytes_max));
    }
    return request(fetch_key, fetch_version, body);
}

Result<bool> takes_our_fetch(std::string_view versions_answer) {
    auto in = Decoder{versions_answer};
    static_cast<void>(TRY(in.u32()));
    if (TRY(in.u16()) != 0) {
        return false;
    }
    for (auto left = TRY(count(in)); left > 0; --left) {
        auto key = TRY(in.u16());
        auto low = TRY(in.u16());
        auto high = TRY(in.u16());
        if (key == fetch_key) {
            return low <= fetch_version && fetch_version <= high;
        }
    }
    return false;
}

Result<std::vector<Fetched>> read_fetch_answer(std::string_view answer) {
    auto in = Decoder{answer};
    static_cast<void>(TRY(in.u32()));
    static_cast<void>(TRY(in.u32())); // How long the broker held it back for a quota.
    auto all = std::vector<Fetched>{};
    for (auto topics = TRY(count(in)); topics > 0; --topics) {
        auto topic = TRY(string(in));
        for (auto partitions = TRY(count(in)); partitions > 0; --partitions) {
            all.push_back(TRY(read_partition(topic, in)));
        }
    }
    return all;
}

} // namespace sluice::connector::kafka::internal

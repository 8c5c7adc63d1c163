#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "store/store.h"

namespace sluice::store::embedded {

// The first byte of every stored key says whose it is; docs/formats/store.md has the whole layout.
constexpr char space_meta = '\x00';
constexpr char space_data = '\x01';
constexpr std::string_view space_data_begin = "\x01";
constexpr std::string_view space_data_end = "\x02";

constexpr std::uint32_t format_number = 1;

using namespace std::string_view_literals;
constexpr std::string_view key_format = "\x00\x01"sv;
constexpr std::string_view key_shard_count = "\x00\x02"sv;
constexpr std::string_view key_created_by = "\x00\x03"sv;
constexpr std::string_view key_shard_first = "\x00\x04"sv;
constexpr std::string_view key_shard_last = "\x00\x05"sv;

inline std::string shard_key(ShardId shard) {
    auto key = std::string{key_shard_first};
    Encoder{key}.u16(shard.raw());
    return key;
}

inline std::string encode(ShardState state) {
    auto bytes = std::string{};
    auto out = Encoder{bytes};
    out.u64(state.epoch.raw());
    out.u64(state.commit.raw());
    return bytes;
}

inline Result<ShardState> decode_shard_state(std::string_view bytes) {
    auto in = Decoder{bytes};
    auto epoch = Epoch{TRY(in.u64())};
    return ShardState{epoch, CommitNumber{TRY(in.u64())}};
}

/// The engine's key as it is stored.
inline std::string data_key(std::string_view key) {
    auto stored = std::string{};
    stored.reserve(key.size() + 1);
    stored.push_back(space_data);
    stored.append(key);
    return stored;
}

} // namespace sluice::store::embedded

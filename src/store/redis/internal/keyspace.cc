#include "store/redis/internal/keyspace.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::store::redis::internal {

std::uint16_t Keyspace::table_of(std::string_view key) const {
    // Keys of one byte or none stand where zeros behind them would.
    auto byte = [&](std::size_t at) {
        return at < key.size() ? static_cast<unsigned char>(key[at]) : 0U;
    };
    return static_cast<std::uint16_t>(std::min<unsigned>(byte(0) << 8U | byte(1), shard_count_));
}

std::vector<Piece> Keyspace::pieces(std::string_view from, std::string_view to) const {
    auto pieces = std::vector<Piece>{};
    if (!to.empty() && from >= to) {
        return pieces;
    }
    auto first = table_of(from);
    auto last = to.empty() ? shard_count_ : table_of(to);
    for (auto table = unsigned{first}; table <= last; ++table) {
        auto is_cut = table == last && !to.empty();
        // Nothing of a shard comes before the two bytes of its number, but a key of one byte.
        if (is_cut && table < shard_count_ && to.size() == 2 && to[1] != '\0') {
            break;
        }
        pieces.push_back({static_cast<std::uint16_t>(table),
                          table == first && !from.empty() ? "[" + std::string{from} : "-",
                          is_cut ? "(" + std::string{to} : "+"});
    }
    return pieces;
}

std::vector<std::string> Keyspace::probes() const {
    auto keys = std::vector{probe()};
    for (auto table = unsigned{0}; table <= shard_count_; ++table) {
        keys.push_back(probe_of(static_cast<std::uint16_t>(table)));
    }
    return keys;
}

std::string Keyspace::lease_by(std::string_view writer) const {
    return of_store(fmt::format("done:{}:lease", writer));
}

std::string Keyspace::commit_by(std::string_view writer, std::uint16_t table) const {
    return of_table(table, fmt::format("done:{}:commit", writer));
}

std::string Keyspace::of_table(std::uint16_t table, std::string_view what) const {
    if (table == shard_count_) {
        return fmt::format("{{{}:catalog}}:{}", prefix_, what);
    }
    return fmt::format("{{{}:{}}}:{}", prefix_, table, what);
}

std::string Keyspace::of_store(std::string_view what) const {
    return fmt::format("{{{}}}:{}", prefix_, what);
}

} // namespace sluice::store::redis::internal

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::store::redis::internal {

/// A part of a range of keys that lies in one table, as ZRANGEBYLEX names it.
struct Piece {
    std::uint16_t table = 0;
    std::string from; ///< `-`, `[key` or `(key`.
    std::string to;
};

/// Where the keys of a store lie. Each shard has a table of its own; one more, the last, has the
/// catalogue and whatever else begins with no shard's number. The order of the tables is the order
/// of the keys.
class Keyspace {
public:
    Keyspace(std::string prefix, std::uint16_t shard_count)
        : prefix_(std::move(prefix)), shard_count_(shard_count) {}

    std::uint16_t shard_count() const { return shard_count_; }
    std::uint16_t table_of(std::string_view key) const;
    /// The keys in [from, to), in order; an empty `to` means to the end.
    std::vector<Piece> pieces(std::string_view from, std::string_view to) const;

    /// All of a table have one hash tag, so that a cluster keeps them together.
    std::string keys_of(std::uint16_t table) const { return of_table(table, "keys"); }
    std::string values_of(std::uint16_t table) const { return of_table(table, "values"); }
    std::string state_of(std::uint16_t table) const { return of_table(table, "state"); }

    std::string meta() const { return of_store("meta"); }
    std::string members() const { return of_store("members"); }
    std::string owners() const { return of_store("owners"); }
    /// Who claimed which shard last, and the number of the last claim.
    std::string claims() const { return of_store("claims"); }
    /// What is written only to see whether it can be.
    std::string probe() const { return of_store("probe"); }
    std::string probe_of(std::uint16_t table) const { return of_table(table, "probe"); }
    /// One key for each place where some of ours may lie; the store's own is the first.
    std::vector<std::string> probes() const;
    /// The last thing that a writer did, of those that must not be done twice.
    std::string lease_by(std::string_view writer) const;
    std::string commit_by(std::string_view writer, std::uint16_t table) const;

private:
    std::string of_table(std::uint16_t table, std::string_view what) const;
    std::string of_store(std::string_view what) const;

    std::string prefix_;
    std::uint16_t shard_count_;
};

} // namespace sluice::store::redis::internal

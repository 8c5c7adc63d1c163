#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "trigger/ids.h"
#include "value/value.h"
#include "workflow/asl/internal/run/visit.h"

namespace sluice::workflow::asl::internal::run {

/// The branches of a Parallel state or the items of a Map under way.
///
/// It has a scope once a branch or an item has to wait, in which those of its children are. What
/// does not change lies in the scope's variables and is written once; counts are the memory of the
/// state's trigger there.
struct Fan {
    /// Of files of each of `result_kinds`.
    using FileNumbers = std::array<std::uint64_t, 3>;

    explicit Fan(Visit& of) : visit(of) {}

    Visit& visit;
    Value items; ///< Of a Map: a list.
    Value input; ///< Of every branch; of a Map what `ItemSelector` sees.
    std::uint64_t size = 0;
    std::uint64_t concurrency = std::numeric_limits<std::int64_t>::max();
    std::uint64_t tolerated = 0; ///< So many children may fail,
    double tolerated_share = 0;  ///< or this share of them, of 100.
    std::uint64_t started = 0;   ///< The event that tells of its start.
    bool are_pairs = false;      ///< The items are members of an object.
    bool are_inputs = false;     ///< They are what the children are given: batches.
    std::uint64_t base = 0;      ///< The index of the first that is here: others were read before.
    Value request;               ///< Of a reader: what it asks for; null: there is none.
    Value cursor;                ///< Where the reader goes on; null: nowhere.
    Value destination;           ///< Of a writer: where results go; null: not known yet.
    std::uint64_t read = 0;      ///< Items that it has read,
    std::uint64_t items_max = 0; ///< and may read; zero: all.
    std::vector<Value> rest;     ///< Items that do not fill a batch yet.

    std::uint64_t next = 0; ///< The first that has not begun.
    std::uint64_t running = 0;
    std::uint64_t done = 0;
    std::uint64_t failed = 0; ///< Of those done.
    std::uint64_t last = 0;   ///< The event behind which the next child begins.
    std::uint64_t ended = 0;  ///< The last event of a child that has ended.
    bool is_reading = false;  ///< A page is on its way.
    std::uint64_t bytes = 0;  ///< Of the results that are kept here.
    std::uint64_t writes = 0; ///< Parts of the results that are being written,
    /// each with the numbers of its files, by where its records are collected,
    std::map<std::uint64_t, FileNumbers> parts{};
    std::uint64_t slot = 0;       ///< where those of the next part are,
    FileNumbers files{};          ///< and files that there are of each kind.
    bool is_closing = false;      ///< All are written but the manifest.
    Value failure;                ///< It ends with this when that is written; null: it does not.
    std::uint64_t kept = 0;       ///< Children without success that a redrive goes on with,
    std::uint64_t kept_bytes = 0; ///< what is kept of them,
    std::uint64_t lost = 0;       ///< and those that it cannot go on with.
    std::uint64_t redrives = 0;
    std::uint64_t again = 0;      ///< Of a redrive: children that have not gone on yet,
    std::uint64_t again_from = 0; ///< and where the first of them may be.

    std::optional<trigger::Incarnation> scope{};
    std::vector<std::pair<std::uint64_t, Value>> held; ///< Results while it has no scope.

    /// What does not change.
    Value plan() const;
    Value counts() const;
    void restore(const Value& plan, const Value& counts);
    /// All that were read; more may follow.
    bool is_over() const { return done == size; }
    bool has_more() const { return again > 0 || next < size; }
    bool tolerates() const;
};

} // namespace sluice::workflow::asl::internal::run

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "event/packed_text.h"

namespace sluice::event {

/// One message of a chunk.
struct Record {
    std::uint64_t number = 0; ///< Rises within its partition, from 1, perhaps with gaps.
    std::size_t begin = 0;    ///< Where it lies in the chunk's bytes.
    std::size_t size = 0;
    std::string fault{}; ///< Why it is no event; empty: it is one as JSON, not yet checked.
};

/// A piece of a partition, as a source read it.
///
/// The bytes stay JSON until they reach the shard that decides them.
struct Chunk {
    std::string partition; ///< Names the stream; positions are kept under it.
    /// Otherwise the partition has no positions: numbers count what was read since `resume`, and
    /// duplicates are told by their ids alone.
    bool is_numbered = true;
    std::shared_ptr<const std::string> bytes; ///< Padded (Codec::padding_bytes).
    std::vector<Record> records;
    /// What the bytes were unpacked from; null: they came as they are.
    std::shared_ptr<const PackedText> packed;
    bool is_last = false; ///< Nothing will ever come behind it.
};

/// Where events enter: partitions, each under its name. The engine pulls; a source never pushes
/// more than was asked for. One thread at a time.
class Source {
public:
    virtual ~Source() = default;
    virtual std::string_view name() const = 0;
    /// Those there are now, for whoever reads all of it; others may come up later in `read`. None
    /// where whoever reads has to name them, as of a bus.
    virtual Result<std::vector<std::string>> partitions() = 0;
    /// From now on a partition is read, from behind this number on. Fails when what comes next is
    /// no longer there: it never goes on elsewhere.
    virtual Result<void> resume(std::string_view partition, std::uint64_t position) = 0;
    /// It is read no more until it is resumed; what was not confirmed comes again then.
    virtual void leave(std::string_view /*partition*/) {}
    /// The next messages of one of the partitions, at most about `bytes_max`. Waits this long for
    /// the first: without records none came. A connection that is lost is made anew meanwhile; an
    /// error is for good.
    virtual Result<Chunk> read(std::size_t bytes_max, Nanos wait) = 0;
    /// This one was taken in an earlier life: it is not confirmed anew.
    virtual void pass_over(std::string_view /*partition*/, std::uint64_t /*number*/) {}
    /// All up to this number are durable: the source may forget them.
    virtual void confirm(std::string_view partition, std::uint64_t position) = 0;
    /// Messages that wait to be read, as far as it is known.
    virtual std::optional<std::uint64_t> lag() { return std::nullopt; }
    /// Why nothing comes just now, such as a broker that cannot be reached; empty: all is well.
    virtual std::string trouble() const { return {}; }
};

} // namespace sluice::event

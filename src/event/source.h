#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::event {

/// A piece of a numbered stream of JSON events, as a source read it.
///
/// The bytes stay JSON until they reach the shard that decides them.
struct Chunk {
    std::string partition;   ///< Names the stream; positions are kept under it.
    std::uint64_t first = 0; ///< Number of the first event in its partition, from 1; 0: unnumbered.
    std::shared_ptr<const std::string>
        bytes;            ///< Events, one JSON object a line, padded (Codec::padding_bytes).
    std::size_t size = 0; ///< Bytes of it that are events.
};

/// Where events enter: one partition, under its name. The engine pulls; a source never pushes more
/// than was asked for.
class Source {
public:
    virtual ~Source() = default;
    virtual std::string_view name() const = 0;
    /// Continue behind this number of a partition; called once, before the first `read`. Fails when
    /// what comes next is no longer there: it never goes on elsewhere.
    virtual Result<void> resume(std::string_view partition, std::uint64_t position) = 0;
    /// The next events, at most about `bytes_max`; an empty chunk when the source is at its end.
    /// Blocks until there are some.
    virtual Result<Chunk> read(std::size_t bytes_max) = 0;
    /// This one was taken in an earlier life: it is not confirmed anew.
    virtual void pass_over(std::string_view /*partition*/, std::uint64_t /*number*/) {}
    /// All up to this number are durable: the source may forget them.
    virtual void confirm(std::string_view partition, std::uint64_t position) = 0;
};

} // namespace sluice::event

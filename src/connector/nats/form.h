#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "connector/nats/options.h"
#include "value/value.h"

namespace sluice::connector::nats {

/// Where a source begins that has no position yet.
enum class Start : std::uint8_t {
    First, ///< With the first message of the stream.
    New,   ///< With what comes from now on.
};

/// What becomes of a source whose next message the stream no longer holds.
enum class Trimmed : std::uint8_t {
    Refuse, ///< It stops with an error.
    Skip,   ///< It goes on with the first that is still there, and says so.
};

/// A source as people write it: a stream by position, a stream by a consumer of theirs, or a
/// subject without a stream.
struct SourceOptions {
    Options server;
    std::vector<std::string> streams{}; ///< The partitions; empty for a subject.
    std::string filter{};               ///< Which subjects of the streams; empty: all.
    std::string consumer{}; ///< A durable pull consumer with acknowledgements; empty: by position.
    std::string subject{};  ///< Of plain NATS: at most once.
    std::string queue{};    ///< Who shares the subject's messages; empty: everybody gets all.
    Start start = Start::First;
    Trimmed trimmed = Trimmed::Refuse;
};

struct SinkOptions {
    Options server;
    std::string subject{}; ///< Where events go that name no other place.
    bool is_core = false;  ///< Without a stream: at most once.
};

/// Members as README.md has them. Fail with InvalidInput, saying what to write instead.
Result<SourceOptions> parse_source(const Value& form);
Result<SinkOptions> parse_sink(const Value& form);

/// Whether messages may be sent to it: no wildcards, spaces or empty parts.
bool is_plain_subject(std::string_view subject);

} // namespace sluice::connector::nats

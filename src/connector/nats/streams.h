#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "connector/nats/pull_window.h"
#include "connector/nats/session.h"

namespace sluice::connector::nats {

/// What JetStream says of a stream.
struct StreamFacts {
    std::vector<std::string> subjects;
    std::uint64_t first = 0; ///< The oldest message it holds; one past the last when it is empty.
    std::uint64_t last = 0;  ///< The newest it ever had.
    std::int64_t replicas = 1;
    bool is_kept = true;  ///< Messages stay when consumers have acknowledged them.
    bool is_filed = true; ///< On disk.
};

Result<StreamFacts> describe_stream(const Session& session, const std::string& stream, Nanos wait);

/// One that messages are asked from.
struct Consumer {
    std::string name;
    std::uint64_t pending = 0;
    PullWindow::Bounds bounds{};
    Nanos request_time_max{0};         ///< 0: any.
    bool is_acknowledged_once = false; ///< The last acknowledgement stands for all before it.
};

/// Makes one without acknowledgements that the server forgets when nobody asks, behind a position.
Result<Consumer> create_reader(const Session& session, const std::string& stream,
                               const std::string& filter, std::uint64_t position, Nanos wait);
/// Unsupported when messages cannot be asked from it or are not acknowledged.
Result<Consumer> find_consumer(const Session& session, const std::string& stream,
                               const std::string& name, Nanos wait);
/// What it still has.
Result<std::uint64_t> count_pending(const Session& session, const std::string& stream,
                                    const std::string& consumer, Nanos wait);
/// Without waiting for the answer: the server forgets it anyway.
void drop_reader(const Session& session, const std::string& stream, const std::string& name);

/// Makes the durable consumer of a group stand at a position, so that it shows what is not yet
/// done. Conflict when there is one of that name that is not ours.
Result<void> mark_position(const Session& session, const std::string& stream,
                           const std::string& filter, const std::string& group,
                           std::uint64_t position, Nanos wait);
/// Removes what lies before and at the position.
Result<void> purge_stream(const Session& session, const std::string& stream, std::uint64_t position,
                          Nanos wait);

} // namespace sluice::connector::nats

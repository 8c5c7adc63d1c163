#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "connector/nats/delivery.h"
#include "connector/nats/form.h"
#include "connector/nats/group_marker.h"
#include "connector/nats/internal/lane.h"
#include "connector/nats/internal/message_reader.h"
#include "connector/nats/internal/pull_link.h"
#include "connector/nats/session.h"
#include "event/source.h"
#include "observe/diagnostics.h"

namespace sluice::connector::nats::internal {

/// Streams of JetStream, each by messages asked from a consumer: one of our own without
/// acknowledgements that begins behind the position, or a durable one of the user's.
///
/// All answers come to one inbox, so that one wait is enough for all partitions.
class StreamSource final : public event::Source {
public:
    static Result<std::unique_ptr<event::Source>> open(const SourceOptions& options,
                                                       observe::Diagnostics& diagnostics);
    ~StreamSource() override;

    std::string_view name() const override { return "nats"; }
    Result<std::vector<std::string>> partitions() override { return options_.streams; }
    Result<void> resume(std::string_view partition, std::uint64_t position) override;
    void leave(std::string_view partition) override;
    Result<event::Chunk> read(std::size_t bytes_max, Nanos wait) override;
    void confirm(std::string_view partition, std::uint64_t position) override;
    std::optional<std::uint64_t> lag() override;
    std::string trouble() const override;

private:
    struct TextHash {
        using is_transparent = void; // NOLINT(readability-identifier-naming): the standard's name.
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };

    StreamSource(SourceOptions options, std::unique_ptr<Session> session,
                 observe::Diagnostics& diagnostics);

    bool is_by_position() const { return options_.consumer.empty(); }
    Lane* find(std::string_view partition);
    void share_prefetch();

    // Connection and consumers.
    /// False: there is no connection just now.
    Result<bool> keep_connected();
    Result<void> keep_open();
    void reopen_all();
    Result<void> open_lane(Lane& lane);
    Result<void> try_open(Lane& lane);
    Result<void> check_position(Lane& lane, const StreamFacts& facts);
    void reopen(Lane& lane, std::string trouble);
    void find_lost();
    void ask(Lane& lane);

    // Messages.
    void take_waiting(std::size_t bytes_max);
    void take(const Answer& answer);
    void take_message(Lane& lane, const Delivery& delivery, const Answer& answer);
    void take_status(const Answer& answer);
    Lane* lane_of(std::string_view consumer);
    Lane* fullest(std::size_t bytes_max);
    Result<std::optional<event::Chunk>> give(Lane& lane);
    Result<bool> is_gap_harmless(Lane& lane);
    void stop_asking();
    void give_back(Lane& lane);

    SourceOptions options_;
    observe::Diagnostics& diagnostics_;
    std::unique_ptr<Session> session_;
    std::unique_ptr<PullLink> link_;
    std::unique_ptr<GroupMarker> marker_;
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::unordered_map<std::string, Lane*, TextHash, std::equal_to<>> by_consumer_;
    std::pair<std::string_view, Lane*> last_{}; ///< Most messages are of the same as before.
    std::uint64_t seen_incarnation_ = 0;
    std::uint64_t next_id_ = 0;
    std::uint64_t next_request_ = 0;
    std::size_t turn_ = 0; ///< Which lane is given next.
    Nanos now_{0};         ///< Of this round.
    MessageReader reader_;
    Random random_;
};

} // namespace sluice::connector::nats::internal

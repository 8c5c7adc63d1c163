#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "connector/redis/entry.h"
#include "connector/redis/internal/link.h"
#include "connector/redis/internal/reading_pace.h"
#include "connector/redis/options.h"
#include "event/message.h"
#include "event/source.h"

namespace sluice::connector::redis::internal {

/// Reads streams by our own position: XREAD, which costs the server no bookkeeping.
///
/// While the caller works on a chunk the server prepares the next, one and no more. After each
/// reading it is made sure that the entry behind which we read, or an older one, is still there:
/// streams are cut from their beginning, so nothing between was lost then.
class PositionSource final : public event::Source {
public:
    PositionSource(Options options, observe::Diagnostics& diagnostics);

    std::string_view name() const override { return "redis"; }
    Result<std::vector<std::string>> partitions() override { return options_.streams; }
    Result<void> resume(std::string_view partition, std::uint64_t position) override;
    void leave(std::string_view partition) override;
    Result<event::Chunk> read(std::size_t bytes_max, Nanos wait) override;
    void confirm(std::string_view partition, std::uint64_t position) override;
    std::optional<std::uint64_t> lag() override;
    std::string trouble() const override { return link_.trouble(); }

private:
    struct Stream {
        std::uint64_t position = 0;         ///< All up to it has been read.
        std::uint64_t confirmed = 0;        ///< All up to it is durable with us.
        std::uint64_t told = 0;             ///< What the server was told of that.
        bool is_begun = false;              ///< Something of it was read, or its position is not 0.
        std::optional<std::uint64_t> count; ///< Entries up to `position`, where that is known.
    };
    using Streams = std::map<std::string, Stream, std::less<>>;

    /// What was asked for and from where, so that an answer to an older question is told apart.
    using Asked = std::vector<std::pair<std::string, std::uint64_t>>;
    struct Piece {
        event::Chunk chunk;
        std::uint64_t after = 0; ///< Behind this position it was read.
    };

    Result<void> step(resp::Client& client, std::size_t bytes_max, Nanos wait);
    void ask(resp::Client& client, Nanos block);
    Result<void> gather(const resp::Reply& reply, std::vector<Piece>& into);
    Result<void> gather_stream(std::string_view name, const resp::Reply& entries,
                               std::vector<Piece>& into);
    Result<void> check(resp::Client& client, const std::vector<Piece>& pieces);
    void take(std::vector<Piece> pieces, std::size_t bytes_max);
    /// What was not handed out is read again.
    void forget(const std::vector<Piece>& pieces);
    Result<void> check_resumed(const std::string& name, Stream& stream);
    Result<void> find_start(const std::string& name, Stream& stream, const resp::Reply& info);
    void tell_positions();
    static std::unexpected<Error> gone(std::string_view name, std::uint64_t position);

    Options options_;
    observe::Diagnostics& diagnostics_;
    Link link_;  ///< For reading.
    Link aside_; ///< For everything else, so that it never stands behind a reading that waits.
    Streams streams_;
    EntryReader reader_;
    event::ChunkBuilder builder_;
    std::optional<Asked> asked_; ///< An answer is under way.
    std::deque<event::Chunk> ready_;
    ReadingPace pace_{10'000};
    Nanos told_at_{0};
};

} // namespace sluice::connector::redis::internal

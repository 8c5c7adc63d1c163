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

/// Reads streams as one of a group of consumers. An entry is acknowledged once it is confirmed;
/// what was not comes again after a restart, and what other consumers left behind is claimed.
class GroupSource final : public event::Source {
public:
    GroupSource(Options options, observe::Diagnostics& diagnostics);
    /// Acknowledges what is confirmed, if the server is there.
    ~GroupSource() override;

    std::string_view name() const override { return "redis"; }
    Result<std::vector<std::string>> partitions() override { return options_.streams; }
    /// The position is the server's: the number is not used.
    Result<void> resume(std::string_view partition, std::uint64_t position) override;
    void leave(std::string_view partition) override;
    Result<event::Chunk> read(std::size_t bytes_max, Nanos wait) override;
    void pass_over(std::string_view partition, std::uint64_t number) override;
    void confirm(std::string_view partition, std::uint64_t position) override;
    std::optional<std::uint64_t> lag() override;
    std::string trouble() const override { return link_.trouble(); }

private:
    struct Open {
        std::uint64_t number;
        std::string id;
    };
    struct Stream {
        std::uint64_t number = 0;        ///< Of the last entry read since it was resumed.
        std::deque<Open> open;           ///< Read and not acknowledged.
        std::vector<std::string> done;   ///< To be acknowledged.
        std::string pending_after = "0"; ///< Ours from an earlier life, read first; empty: no more.
        std::string claim_from = "0-0";
        bool is_grouped = false; ///< The group is known to be there.
    };
    using Streams = std::map<std::string, Stream, std::less<>>;
    /// Whether entries may be among those that are open.
    enum class Known : std::uint8_t { Never, Perhaps };

    Result<void> step(resp::Client& client, std::size_t bytes_max, Nanos wait);
    Result<void> make_groups(resp::Client& client);
    Result<void> acknowledge(resp::Client& client);
    void forget_connection(const Error& error);
    Result<bool> read_pending(resp::Client& client);
    Result<void> claim(resp::Client& client);
    Result<void> read_new(resp::Client& client, std::size_t bytes_max, Nanos wait);
    /// True when there were any.
    bool take(const std::string& name, Stream& stream, const resp::Reply& entries, Known known);

    Options options_;
    Link link_;
    Streams streams_;
    EntryReader reader_;
    event::ChunkBuilder builder_;
    std::deque<event::Chunk> ready_;
    ReadingPace pace_{5'000};
    Nanos claimed_at_{0};
};

} // namespace sluice::connector::redis::internal

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "connector/nats/form.h"
#include "connector/nats/internal/message_reader.h"
#include "connector/nats/session.h"
#include "event/source.h"
#include "observe/diagnostics.h"

namespace sluice::connector::nats::internal {

/// A subject of plain NATS: what is sent while nobody listens is gone, and so is what comes faster
/// than it is read, beyond the prefetch. Numbers count what was read.
class SubjectSource final : public event::Source {
public:
    static Result<std::unique_ptr<event::Source>> open(const SourceOptions& options,
                                                       observe::Diagnostics& diagnostics);

    std::string_view name() const override { return "nats"; }
    Result<std::vector<std::string>> partitions() override { return std::vector{options_.subject}; }
    /// The one partition is the subject.
    Result<void> resume(std::string_view partition, std::uint64_t position) override;
    void leave(std::string_view partition) override;
    Result<event::Chunk> read(std::size_t bytes_max, Nanos wait) override;
    void confirm(std::string_view /*partition*/, std::uint64_t /*position*/) override {}
    std::optional<std::uint64_t> lag() override;
    std::string trouble() const override { return session_->trouble(); }

private:
    SubjectSource(SourceOptions options, std::unique_ptr<Session> session,
                  observe::Diagnostics& diagnostics);

    Result<void> keep_subscribed();
    Result<void> subscribe();
    void tell_dropped();

    SourceOptions options_;
    observe::Diagnostics& diagnostics_;
    std::unique_ptr<Session> session_;
    SubscriptionHandle subscription_;
    std::uint64_t seen_generation_ = 0;
    std::int64_t dropped_ = 0;
    bool is_resumed_ = false;
    std::uint64_t read_ = 0;
    event::ChunkBuilder builder_;
    MessageReader reader_;
};

} // namespace sluice::connector::nats::internal

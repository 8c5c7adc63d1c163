#include "connector/nats/bus.h"

#include <utility>

#include "connector/nats/internal/ceiling.h"
#include "connector/nats/internal/names.h"
#include "connector/nats/internal/stream_source.h"
#include "connector/nats/producer.h"
#include "connector/nats/session.h"
#include "connector/nats/streams.h"

namespace sluice::connector::nats {

namespace {

constexpr auto create_time_max = std::chrono::seconds{10};

class Bus final : public event::Bus {
public:
    Bus(Options options, observe::Diagnostics& diagnostics)
        : options_(std::move(options)), diagnostics_(diagnostics) {}

    std::string partition(ShardId shard) const override {
        return fmt::format("{}.{}", options_.prefix, shard.raw());
    }
    Result<void> create(std::uint16_t shards) override;
    Result<std::unique_ptr<event::Source>> open_source() override {
        return internal::StreamSource::open({.server = options_}, diagnostics_);
    }
    Result<std::unique_ptr<event::Producer>> open_producer() override {
        return nats::open_producer(options_, Target::Bus, diagnostics_);
    }
    Result<event::Ceiling> measure(ShardId shard, std::uint64_t events) override {
        auto session = TRY(open_session());
        return internal::measure(*session, internal::stream_of(partition(shard)), events);
    }
    Result<void> remove(std::uint16_t shards) override;

private:
    /// For calls that need an answer now.
    Result<std::unique_ptr<Session>> open_session() const {
        return Session::open(options_, "sluice bus", Session::Reconnect::Never);
    }
    Result<void> create_stream(const Session& session, const std::string& subject) const;
    Result<void> check_stream(const Session& session, const std::string& subject) const;

    Options options_;
    observe::Diagnostics& diagnostics_;
};

Result<void> Bus::create(std::uint16_t shards) {
    auto session = TRY(open_session());
    for (auto shard = std::uint16_t{0}; shard < shards; ++shard) {
        TRY(create_stream(*session, partition(ShardId{shard})));
    }
    return {};
}

Result<void> Bus::create_stream(const Session& session, const std::string& subject) const {
    auto stream = internal::stream_of(subject);
    auto there = check_stream(session, subject);
    if (there || there.error().code != Errc::NotFound) {
        return there;
    }
    const auto* subjects = subject.c_str();
    auto config = jsStreamConfig{};
    jsStreamConfig_Init(&config);
    config.Name = stream.c_str();
    config.Subjects = &subjects;
    config.SubjectsLen = 1;
    config.Storage = js_FileStorage;
    config.Replicas = options_.replicas;
    config.Duplicates = options_.duplicates.count();
    auto wanted = session.call_options(create_time_max);
    auto code = jsErrCode{};
    auto status = js_AddStream(nullptr, session.streams(), &config, &wanted, &code);
    // Somebody else may have made it meanwhile.
    if (code == JSStreamNameExistErr) {
        return check_stream(session, subject);
    }
    if (status != NATS_OK) {
        return std::unexpected(error_of(status, fmt::format("making stream {}", stream), code));
    }
    return {};
}

Result<void> Bus::check_stream(const Session& session, const std::string& subject) const {
    auto stream = internal::stream_of(subject);
    auto facts = TRY(describe_stream(session, stream, create_time_max));
    auto different = [&](std::string_view what) {
        return fail(Errc::Conflict, "stream {} is there already, but {}: write another prefix",
                    stream, what);
    };
    if (facts.subjects != std::vector{subject}) {
        return different(fmt::format("it has the subjects {}, not {}",
                                     fmt::join(facts.subjects, ", "), subject));
    }
    if (!facts.is_filed) {
        return different("it is kept in memory");
    }
    if (!facts.is_kept) {
        return different("it drops what its consumers acknowledge");
    }
    if (facts.replicas != options_.replicas) {
        return different(
            fmt::format("it has {} replicas, not {}", facts.replicas, options_.replicas));
    }
    return {};
}

Result<void> Bus::remove(std::uint16_t shards) {
    auto session = TRY(open_session());
    for (auto shard = std::uint16_t{0}; shard < shards; ++shard) {
        auto stream = internal::stream_of(partition(ShardId{shard}));
        auto wanted = session->call_options(create_time_max);
        auto code = jsErrCode{};
        auto status = js_DeleteStream(session->streams(), stream.c_str(), &wanted, &code);
        if (status != NATS_OK && code != JSStreamNotFoundErr) {
            return std::unexpected(
                error_of(status, fmt::format("removing stream {}", stream), code));
        }
    }
    return {};
}

} // namespace

Result<std::unique_ptr<event::Bus>> open_bus(const Options& options,
                                             observe::Diagnostics& diagnostics) {
    TRY(check_options(options));
    if (options.servers.empty()) {
        return fail(Errc::InvalidInput, "no server is given: write nats://host:4222");
    }
    return std::unique_ptr<event::Bus>{std::make_unique<Bus>(options, diagnostics)};
}

} // namespace sluice::connector::nats

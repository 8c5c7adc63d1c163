#include "connector/nats/internal/ceiling.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "connector/nats/internal/inbox.h"
#include "connector/nats/internal/message_reader.h"
#include "connector/nats/streams.h"

namespace sluice::connector::nats::internal {

namespace {

constexpr auto measure_time_max = std::chrono::seconds{5};
constexpr auto silence_max = Nanos{std::chrono::seconds{5}};
constexpr auto position_batch = std::uint64_t{10'000};
constexpr auto group_batch = std::uint64_t{1'000};

struct Asker {
    const Session& session;
    Inbox& inbox;
    std::string subject;
    std::uint64_t batch = 0;
    std::uint64_t left = 0;

    void ask() {
        auto body = fmt::format(R"({{"batch":{},"expires":{}}})", std::min(batch, left),
                                Nanos{measure_time_max}.count());
        left -= std::min(batch, left);
        auto answers = inbox.prefix() + "0";
        natsConnection_PublishRequest(session.connection(), subject.c_str(), answers.c_str(),
                                      body.data(), static_cast<int>(body.size()));
    }
};

Result<double> count(Asker asker, std::uint64_t events, bool is_acknowledged) {
    auto begin = std::chrono::steady_clock::now();
    asker.left = events;
    asker.ask();
    asker.ask();
    for (auto read = std::uint64_t{1}; read <= events; ++read) {
        auto message = asker.inbox.next(silence_max);
        if (!message || text_of(natsMsg_GetReply(message.get())).empty()) {
            return fail(Errc::Unavailable, "{} of {} events could be read", read - 1, events);
        }
        auto is_end = read % asker.batch == 0;
        if (is_acknowledged && (is_end || read == events)) {
            natsConnection_PublishString(asker.session.connection(),
                                         natsMsg_GetReply(message.get()), "");
        }
        if (is_end && asker.left > 0) {
            asker.ask();
        }
    }
    auto took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return static_cast<double>(events) / took;
}

/// One that acknowledges, in the cheapest way there is: the last of a batch for all before it.
Result<std::string> create_group(const Session& session, const std::string& stream) {
    auto config = jsConsumerConfig{};
    jsConsumerConfig_Init(&config);
    config.AckPolicy = js_AckAll;
    config.MaxAckPending = static_cast<std::int64_t>(4 * group_batch);
    config.InactiveThreshold = Nanos{std::chrono::minutes{1}}.count();
    auto options = session.call_options(measure_time_max);
    auto info = ConsumerInfoHandle{};
    auto code = jsErrCode{};
    auto status =
        js_AddConsumer(Out{info}, session.streams(), stream.c_str(), &config, &options, &code);
    if (status != NATS_OK) {
        return std::unexpected(error_of(status, "making a consumer to measure", code));
    }
    return std::string{info->Name};
}

} // namespace

Result<event::Ceiling> measure(const Session& session, const std::string& stream,
                               std::uint64_t events) {
    auto ceiling = event::Ceiling{};
    if (events == 0) {
        return ceiling;
    }
    auto next = fmt::format("{}CONSUMER.MSG.NEXT.{}.", session.api(), stream);
    auto inbox = TRY(Inbox::open(session.connection()));
    auto group = TRY(create_group(session, stream));
    auto by_group = Asker{session, inbox, next + group, group_batch};
    ceiling.group_events_per_second = TRY(count(by_group, events, true));
    drop_reader(session, stream, group);
    auto facts = TRY(describe_stream(session, stream, measure_time_max));
    auto reader = TRY(create_reader(session, stream, {}, facts.first - 1, measure_time_max));
    auto by_position = Asker{session, inbox, next + reader.name, position_batch};
    ceiling.position_events_per_second = TRY(count(by_position, events, false));
    drop_reader(session, stream, reader.name);
    return ceiling;
}

} // namespace sluice::connector::nats::internal

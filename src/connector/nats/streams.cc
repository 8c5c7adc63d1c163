#include "connector/nats/streams.h"

#include <string_view>

namespace sluice::connector::nats {

namespace {

using internal::ConsumerInfoHandle;
using internal::Out;
using internal::StreamInfoHandle;

// So long a reader may pause before the server forgets its consumer, which is then made anew.
constexpr auto reader_pause_max = Nanos{std::chrono::minutes{5}};
constexpr auto* marker_description = "shows how far sluice has come";

Result<ConsumerInfoHandle> consumer_info(const Session& session, const std::string& stream,
                                         const std::string& name, Nanos wait) {
    auto options = session.call_options(wait);
    auto info = ConsumerInfoHandle{};
    auto code = jsErrCode{};
    auto status = js_GetConsumerInfo(Out{info}, session.streams(), stream.c_str(), name.c_str(),
                                     &options, &code);
    if (status != NATS_OK) {
        return std::unexpected(
            error_of(status, fmt::format("consumer {} of stream {}", name, stream), code));
    }
    return info;
}

Result<ConsumerInfoHandle> add_consumer(const Session& session, const std::string& stream,
                                        jsConsumerConfig& config, Nanos wait) {
    auto options = session.call_options(wait);
    auto info = ConsumerInfoHandle{};
    auto code = jsErrCode{};
    auto status =
        js_AddConsumer(Out{info}, session.streams(), stream.c_str(), &config, &options, &code);
    if (status != NATS_OK) {
        return std::unexpected(
            error_of(status, fmt::format("making a consumer of stream {}", stream), code));
    }
    return info;
}

jsConsumerConfig starting_behind(std::uint64_t position, const std::string& filter) {
    auto config = jsConsumerConfig{};
    jsConsumerConfig_Init(&config);
    config.DeliverPolicy = js_DeliverByStartSequence;
    config.OptStartSeq = position + 1;
    config.FilterSubject = filter.empty() ? nullptr : filter.c_str();
    return config;
}

} // namespace

Result<StreamFacts> describe_stream(const Session& session, const std::string& stream, Nanos wait) {
    auto options = session.call_options(wait);
    auto info = StreamInfoHandle{};
    auto code = jsErrCode{};
    auto status = js_GetStreamInfo(Out{info}, session.streams(), stream.c_str(), &options, &code);
    if (status != NATS_OK) {
        return std::unexpected(error_of(status, fmt::format("stream {}", stream), code));
    }
    auto facts = StreamFacts{.first = info->State.FirstSeq,
                             .last = info->State.LastSeq,
                             .replicas = info->Config->Replicas,
                             .is_kept = info->Config->Retention == js_LimitsPolicy,
                             .is_filed = info->Config->Storage == js_FileStorage};
    if (info->State.Msgs == 0) {
        facts.first = facts.last + 1;
    }
    for (auto at = 0; at < info->Config->SubjectsLen; ++at) {
        facts.subjects.emplace_back(info->Config->Subjects[at]);
    }
    return facts;
}

Result<Consumer> create_reader(const Session& session, const std::string& stream,
                               const std::string& filter, std::uint64_t position, Nanos wait) {
    auto config = starting_behind(position, filter);
    config.AckPolicy = js_AckNone;
    config.InactiveThreshold = reader_pause_max.count();
    config.Replicas = 1;
    config.MemoryStorage = true;
    auto info = TRY(add_consumer(session, stream, config, wait));
    return Consumer{.name = info->Name, .pending = info->NumPending};
}

Result<Consumer> find_consumer(const Session& session, const std::string& stream,
                               const std::string& name, Nanos wait) {
    auto info = TRY(consumer_info(session, stream, name, wait));
    const auto& config = *info->Config;
    if (config.DeliverSubject != nullptr && *config.DeliverSubject != '\0') {
        return fail(Errc::Unsupported,
                    "consumer {} of stream {} pushes: make a pull consumer, without a deliver "
                    "subject",
                    name, stream);
    }
    if (config.AckPolicy == js_AckNone) {
        return fail(Errc::Unsupported,
                    "consumer {} of stream {} acknowledges nothing: give it ack policy explicit, "
                    "or leave consumer out to read by position",
                    name, stream);
    }
    return Consumer{
        .name = name,
        .pending = info->NumPending,
        .bounds = {.messages_max = static_cast<std::uint64_t>(config.MaxRequestBatch),
                   .bytes_max = static_cast<std::size_t>(config.MaxRequestMaxBytes)},
        .request_time_max = Nanos{config.MaxRequestExpires},
        .is_acknowledged_once = config.AckPolicy == js_AckAll,
    };
}

Result<std::uint64_t> count_pending(const Session& session, const std::string& stream,
                                    const std::string& consumer, Nanos wait) {
    auto info = TRY(consumer_info(session, stream, consumer, wait));
    return info->NumPending;
}

void drop_reader(const Session& session, const std::string& stream, const std::string& name) {
    auto subject = fmt::format("{}CONSUMER.DELETE.{}.{}", session.api(), stream, name);
    natsConnection_Publish(session.connection(), subject.c_str(), nullptr, 0);
}

Result<void> mark_position(const Session& session, const std::string& stream,
                           const std::string& filter, const std::string& group,
                           std::uint64_t position, Nanos wait) {
    auto found = consumer_info(session, stream, group, wait);
    if (found) {
        const auto* description = (*found)->Config->Description;
        if (description == nullptr || std::string_view{description} != marker_description) {
            return fail(Errc::Conflict,
                        "stream {} has a consumer {} already that reads: write another group, or "
                        "group= for none",
                        stream, group);
        }
        if ((*found)->Delivered.Stream == position) {
            return {};
        }
        // A consumer cannot be moved without reading: it is made anew where it should stand.
        auto options = session.call_options(wait);
        auto code = jsErrCode{};
        auto status =
            js_DeleteConsumer(session.streams(), stream.c_str(), group.c_str(), &options, &code);
        if (status != NATS_OK && code != JSConsumerNotFoundErr) {
            return std::unexpected(error_of(status, "moving the group's position", code));
        }
    } else if (found.error().code != Errc::NotFound) {
        return std::unexpected(found.error());
    }
    auto config = starting_behind(position, filter);
    config.Durable = group.c_str();
    config.Description = marker_description;
    config.AckPolicy = js_AckExplicit;
    std::ignore = TRY(add_consumer(session, stream, config, wait));
    return {};
}

Result<void> purge_stream(const Session& session, const std::string& stream, std::uint64_t position,
                          Nanos wait) {
    auto options = session.call_options(wait);
    options.Stream.Purge.Sequence = position + 1;
    auto code = jsErrCode{};
    auto status = js_PurgeStream(session.streams(), stream.c_str(), &options, &code);
    if (status != NATS_OK) {
        return std::unexpected(error_of(status, fmt::format("purging stream {}", stream), code));
    }
    return {};
}

} // namespace sluice::connector::nats

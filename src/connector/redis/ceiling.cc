#include "connector/redis/ceiling.h"

#include <chrono>
#include <vector>

#include "connector/redis/internal/stream_reply.h"
#include "resp/client.h"

namespace sluice::connector::redis {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto at_once = std::size_t{1'000};
constexpr auto group = std::string_view{"sluice-ceiling"};

double rate(std::uint64_t events, Clock::time_point since) {
    auto seconds = std::chrono::duration<double>{Clock::now() - since}.count();
    return seconds > 0 ? static_cast<double>(events) / seconds : 0;
}

std::unexpected<Error> too_few(const std::string& stream, std::uint64_t read,
                               std::uint64_t events) {
    return fail(Errc::NotFound, "the stream {} ended after {} of {} entries", stream, read, events);
}

Result<double> by_position(resp::Client& client, const std::string& stream, std::uint64_t events) {
    auto began = Clock::now();
    auto last = std::string{"0"};
    auto read = std::uint64_t{0};
    while (read < events) {
        auto reply = TRY(client.call("XREAD", "COUNT", at_once, "STREAMS", stream, last));
        auto before = read;
        internal::for_each_stream(reply, [&](std::string_view, const resp::Reply& entries) {
            auto newest = std::string_view{};
            for (const auto& entry : entries) {
                newest = entry.item(0).text();
                ++read;
            }
            last = newest;
        });
        if (read == before) {
            return too_few(stream, read, events);
        }
    }
    return rate(read, began);
}

/// The acknowledgement of a batch travels with the question for the next.
Result<double> by_group(resp::Client& client, const std::string& stream, std::uint64_t events) {
    std::ignore = client.call("XGROUP", "DESTROY", stream, group);
    std::ignore = TRY(client.call("XGROUP", "CREATE", stream, group, "0"));
    auto began = Clock::now();
    auto ids = std::vector<std::string>{};
    auto read = std::uint64_t{0};
    while (read < events) {
        auto& commands = client.commands();
        if (!ids.empty()) {
            commands.begin(3 + ids.size());
            commands.argument(std::string_view{"XACK"});
            commands.argument(stream);
            commands.argument(group);
            for (const auto& id : ids) {
                commands.argument(id);
            }
        }
        commands.add("XREADGROUP", "GROUP", group, "ceiling", "COUNT", at_once, "STREAMS", stream,
                     ">");
        TRY(client.send());
        if (!ids.empty()) {
            std::ignore = TRY(resp::checked(TRY(client.receive())));
        }
        auto reply = TRY(resp::checked(TRY(client.receive())));
        ids.clear();
        internal::for_each_stream(reply, [&](std::string_view, const resp::Reply& entries) {
            for (const auto& entry : entries) {
                ids.emplace_back(entry.item(0).text());
            }
        });
        if (ids.empty()) {
            return too_few(stream, read, events);
        }
        read += ids.size();
    }
    auto measured = rate(read, began);
    std::ignore = TRY(client.call("XGROUP", "DESTROY", stream, group));
    return measured;
}

} // namespace

Result<event::Ceiling> measure_ceiling(const Options& options, const std::string& stream,
                                       std::uint64_t events) {
    auto client = TRY(resp::Client::connect(options.server));
    auto ceiling = event::Ceiling{};
    ceiling.position_events_per_second = TRY(by_position(client, stream, events));
    ceiling.group_events_per_second = TRY(by_group(client, stream, events));
    return ceiling;
}

} // namespace sluice::connector::redis

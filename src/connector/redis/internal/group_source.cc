#include "connector/redis/internal/group_source.h"

#include <algorithm>
#include <set>
#include <thread>
#include <utility>

#include "connector/redis/internal/stream_reply.h"

namespace sluice::connector::redis::internal {
namespace {

constexpr auto acknowledged_at_once = std::size_t{1'000};

} // namespace

GroupSource::GroupSource(Options options, observe::Diagnostics& diagnostics)
    : options_(std::move(options)), link_(options_.server, diagnostics) {}

GroupSource::~GroupSource() {
    auto client = link_.get(std::chrono::milliseconds{100});
    if (client && *client != nullptr) {
        std::ignore = acknowledge(**client);
    }
}

Result<void> GroupSource::resume(std::string_view partition, std::uint64_t /*position*/) {
    leave(partition);
    streams_.insert_or_assign(std::string{partition}, Stream{});
    return {};
}

void GroupSource::leave(std::string_view partition) {
    auto found = streams_.find(partition);
    if (found == streams_.end()) {
        return;
    }
    auto client = link_.get(std::chrono::milliseconds{100});
    if (client && *client != nullptr) {
        std::ignore = acknowledge(**client);
    }
    streams_.erase(found);
    std::erase_if(ready_, [&](const event::Chunk& chunk) { return chunk.partition == partition; });
}

Result<event::Chunk> GroupSource::read(std::size_t bytes_max, Nanos wait) {
    auto deadline = steady_now() + wait;
    for (;;) {
        if (!ready_.empty()) {
            auto chunk = std::move(ready_.front());
            ready_.pop_front();
            return chunk;
        }
        auto left = std::max(deadline - steady_now(), Nanos{0});
        if (streams_.empty()) {
            std::this_thread::sleep_for(left);
            return event::Chunk{};
        }
        auto* client = TRY(link_.get(left));
        if (client != nullptr) {
            auto done = step(*client, bytes_max, std::max(deadline - steady_now(), Nanos{0}));
            if (!done) {
                forget_connection(done.error());
                // NOGROUP: somebody removed it, or the server came back without it.
                if (done.error().code != Errc::Unavailable && done.error().code != Errc::NotFound) {
                    return std::unexpected(std::move(done).error());
                }
            }
        }
        if (ready_.empty() && steady_now() >= deadline) {
            return event::Chunk{};
        }
    }
}

/// What the server gave us and we never got is still ours there.
void GroupSource::forget_connection(const Error& error) {
    for (auto& [name, stream] : streams_) {
        stream.is_grouped = false;
        stream.pending_after = "0";
    }
    link_.lose(error);
}

Result<void> GroupSource::step(resp::Client& client, std::size_t bytes_max, Nanos wait) {
    TRY(make_groups(client));
    TRY(acknowledge(client));
    if (TRY(read_pending(client))) {
        return {};
    }
    TRY(claim(client));
    if (!ready_.empty()) {
        return {};
    }
    return read_new(client, bytes_max, wait);
}

Result<void> GroupSource::make_groups(resp::Client& client) {
    const auto* from = options_.start == Start::New ? "$" : "0";
    for (auto& [name, stream] : streams_) {
        if (stream.is_grouped) {
            continue;
        }
        auto made = client.call("XGROUP", "CREATE", name, options_.group, from, "MKSTREAM");
        if (!made && made.error().code != Errc::AlreadyExists) {
            return fail(made.error().code, "stream {}: {}", name, made.error().message);
        }
        stream.is_grouped = true;
    }
    return {};
}

Result<void> GroupSource::acknowledge(resp::Client& client) {
    for (const auto& [name, stream] : streams_) {
        for (auto at = std::size_t{0}; at < stream.done.size(); at += acknowledged_at_once) {
            auto count = std::min(acknowledged_at_once, stream.done.size() - at);
            client.commands().begin(3 + count);
            client.commands().argument(std::string_view{"XACK"});
            client.commands().argument(name);
            client.commands().argument(options_.group);
            for (auto each = at; each < at + count; ++each) {
                client.commands().argument(stream.done[each]);
            }
        }
    }
    if (client.commands().count() == 0) {
        return {};
    }
    TRY(client.send());
    while (client.owed() > 0) {
        std::ignore = TRY(resp::checked(TRY(client.receive())));
    }
    for (auto& [name, stream] : streams_) {
        stream.done.clear();
    }
    return {};
}

Result<bool> GroupSource::read_pending(resp::Client& client) {
    for (auto& [name, stream] : streams_) {
        if (stream.pending_after.empty()) {
            continue;
        }
        auto reply =
            TRY(client.call("XREADGROUP", "GROUP", options_.group, options_.consumer, "COUNT",
                            pace_.count(), "STREAMS", name, stream.pending_after));
        auto last = std::string{};
        for_each_stream(reply, [&](std::string_view, const resp::Reply& entries) {
            for (const auto& entry : entries) {
                last = entry.item(0).text();
            }
            take(name, stream, entries, Known::Perhaps);
        });
        stream.pending_after = last;
        if (!ready_.empty()) {
            return true;
        }
    }
    return false;
}

/// What other consumers took and never acknowledged.
Result<void> GroupSource::claim(resp::Client& client) {
    if (steady_now() - claimed_at_ < options_.claim_after / 2) {
        return {};
    }
    auto idle = std::chrono::ceil<std::chrono::milliseconds>(options_.claim_after).count();
    auto is_more = false;
    for (auto& [name, stream] : streams_) {
        auto reply = TRY(client.call("XAUTOCLAIM", name, options_.group, options_.consumer, idle,
                                     stream.claim_from, "COUNT", 100));
        stream.claim_from = reply.item(0).text();
        is_more = is_more || stream.claim_from != "0-0";
        take(name, stream, reply.item(1), Known::Perhaps);
    }
    if (!is_more) {
        claimed_at_ = steady_now();
    }
    return {};
}

Result<void> GroupSource::read_new(resp::Client& client, std::size_t bytes_max, Nanos wait) {
    auto millis = std::chrono::floor<std::chrono::milliseconds>(wait).count();
    auto& commands = client.commands();
    commands.begin(7 + (millis > 0 ? 2 : 0) + 2 * streams_.size());
    commands.argument(std::string_view{"XREADGROUP"});
    commands.argument(std::string_view{"GROUP"});
    commands.argument(options_.group);
    commands.argument(options_.consumer);
    commands.argument(std::string_view{"COUNT"});
    commands.argument(pace_.count());
    if (millis > 0) {
        commands.argument(std::string_view{"BLOCK"});
        commands.argument(millis);
    }
    commands.argument(std::string_view{"STREAMS"});
    for (const auto& [name, stream] : streams_) {
        commands.argument(name);
    }
    for (auto at = std::size_t{0}; at < streams_.size(); ++at) {
        commands.argument(std::string_view{">"});
    }
    TRY(client.send());
    auto reply = TRY(resp::checked(TRY(client.receive(wait + options_.server.call_limit))));
    auto bytes = std::size_t{0};
    auto records = std::size_t{0};
    auto busy = std::size_t{0};
    for_each_stream(reply, [&](std::string_view name, const resp::Reply& entries) {
        auto found = streams_.find(name);
        if (found != streams_.end() && take(found->first, found->second, entries, Known::Never)) {
            bytes += ready_.back().bytes->size();
            records += ready_.back().records.size();
            ++busy;
        }
    });
    pace_.learn(records, bytes, busy, bytes_max);
    return {};
}

bool GroupSource::take(const std::string& name, Stream& stream, const resp::Reply& entries,
                       Known known) {
    auto open = std::set<std::string, std::less<>>{};
    if (known == Known::Perhaps && entries.size() > 0) {
        open.insert(stream.done.begin(), stream.done.end());
        for (const auto& each : stream.open) {
            open.insert(each.id);
        }
    }
    for (const auto& entry : entries) {
        auto id = std::string{entry.item(0).text()};
        auto fields = entry.item(1);
        if (open.contains(id)) {
            continue;
        }
        if (fields.is_null()) {
            // It was deleted meanwhile: there is nothing left to do for it.
            stream.done.push_back(std::move(id));
            continue;
        }
        reader_.read(++stream.number, fields, builder_);
        stream.open.push_back({stream.number, std::move(id)});
    }
    if (builder_.count() == 0) {
        return false;
    }
    ready_.push_back(builder_.take(name, false));
    return true;
}

void GroupSource::pass_over(std::string_view partition, std::uint64_t number) {
    auto found = streams_.find(partition);
    if (found == streams_.end()) {
        return;
    }
    auto& open = found->second.open;
    auto entry = std::ranges::lower_bound(open, number, {}, &Open::number);
    if (entry != open.end() && entry->number == number) {
        found->second.done.push_back(std::move(entry->id));
        open.erase(entry);
    }
}

void GroupSource::confirm(std::string_view partition, std::uint64_t position) {
    auto found = streams_.find(partition);
    if (found == streams_.end()) {
        return;
    }
    auto& [name, stream] = *found;
    while (!stream.open.empty() && stream.open.front().number <= position) {
        stream.done.push_back(std::move(stream.open.front().id));
        stream.open.pop_front();
    }
}

std::optional<std::uint64_t> GroupSource::lag() {
    auto found = link_.get(std::chrono::milliseconds{50});
    if (!found || *found == nullptr) {
        return std::nullopt;
    }
    auto waiting = std::uint64_t{0};
    for (const auto& [name, stream] : streams_) {
        auto groups = (*found)->call("XINFO", "GROUPS", name);
        if (!groups) {
            return std::nullopt;
        }
        for (const auto& group : *groups) {
            auto behind = member(group, "lag");
            if (member(group, "name").text() == options_.group && !behind.is_null()) {
                waiting += static_cast<std::uint64_t>(behind.number());
            }
        }
    }
    for (const auto& chunk : ready_) {
        waiting += chunk.records.size();
    }
    return waiting;
}

} // namespace sluice::connector::redis::internal

#include "connector/redis/internal/position_source.h"

#include <algorithm>
#include <charconv>
#include <thread>
#include <utility>

#include "connector/redis/internal/stream_reply.h"
#include "connector/redis/position.h"

namespace sluice::connector::redis::internal {
namespace {

constexpr auto reply_bytes_max = std::size_t{256} << 20U;
constexpr auto tell_every = std::chrono::seconds{1};

resp::Options with_limits(resp::Options server) {
    server.limits.reply_bytes_max = reply_bytes_max;
    return server;
}

} // namespace

PositionSource::PositionSource(Options options, observe::Diagnostics& diagnostics)
    : options_(std::move(options)),
      diagnostics_(diagnostics),
      link_(with_limits(options_.server), diagnostics),
      aside_(options_.server, diagnostics) {}

Result<void> PositionSource::resume(std::string_view partition, std::uint64_t position) {
    leave(partition);
    auto name = std::string{partition};
    auto stream = Stream{
        .position = position, .confirmed = position, .told = position, .is_begun = position != 0};
    if (position == 0) {
        stream.count = 0;
    }
    TRY(check_resumed(name, stream));
    streams_.insert_or_assign(std::move(name), stream);
    return {};
}

/// As far as the server can be reached now; otherwise the first reading finds out.
Result<void> PositionSource::check_resumed(const std::string& name, Stream& stream) {
    // Of many streams only the first waits for a server that is not there.
    auto wait = aside_.trouble().empty() ? options_.server.connect_limit : Nanos{0};
    auto* client = TRY(aside_.get(wait));
    if (client == nullptr) {
        return {};
    }
    if (!options_.group.empty()) {
        client->commands().add("XGROUP", "CREATE", name, options_.group, "0", "MKSTREAM");
    }
    client->commands().add("XINFO", "STREAM", name);
    auto sent = client->send();
    auto info = Result<resp::Reply>{fail(Errc::Unavailable, "nothing was sent")};
    while (sent && client->owed() > 0) {
        info = client->receive();
        if (!info) {
            break;
        }
    }
    if (!sent || !info) {
        aside_.lose(sent ? info.error() : sent.error());
        return {};
    }
    if (info->is_error()) {
        auto error = resp::error_of(*info);
        if (error.code == Errc::Conflict) {
            return fail(Errc::Conflict, "{} is no stream: {}", name, error.message);
        }
        if (error.code == Errc::Unavailable) {
            return {};
        }
        if (!error.message.starts_with("ERR no such key")) {
            return fail(error.code, "stream {}: {}", name, error.message);
        }
        return stream.position == 0 ? Result<void>{} : gone(name, stream.position);
    }
    return find_start(name, stream, *info);
}

Result<void> PositionSource::find_start(const std::string& name, Stream& stream,
                                        const resp::Reply& info) {
    auto last = member(info, "last-generated-id").text();
    auto last_position = last == "0-0" ? 0 : TRY(position_of(last));
    auto added = member(info, "entries-added").number();
    auto length = member(info, "length").number();
    if (stream.position == 0) {
        if (options_.start == Start::New) {
            stream.position = stream.confirmed = stream.told = last_position;
            stream.count = static_cast<std::uint64_t>(added);
            stream.is_begun = last_position != 0;
        } else if (added > length && options_.start == Start::First) {
            return fail(Errc::NotFound,
                        "the first of the stream {} is gone: {} entries were added, {} are left; "
                        "give start=earliest to begin with those, or start=new",
                        name, added, length);
        } else {
            stream.count = static_cast<std::uint64_t>(added - length);
        }
        return {};
    }
    if (stream.position > last_position) {
        return fail(Errc::NotFound,
                    "the stream {} ends at {}, before the position {} that was taken from it: it "
                    "was removed and made anew, or its server lost data",
                    name, last, id_of(stream.position));
    }
    if (stream.position == last_position) {
        stream.count = static_cast<std::uint64_t>(added);
        return {};
    }
    auto first = member(info, "first-entry").item(0).text();
    // Right behind the position nothing is missing.
    if (first.empty() || TRY(position_of(first)) > stream.position + 1) {
        return gone(name, stream.position);
    }
    return {};
}

std::unexpected<Error> PositionSource::gone(std::string_view name, std::uint64_t position) {
    return fail(
        Errc::NotFound,
        "the stream {} has no entry at or before {}, where it was read last: what came next "
        "may be gone; keep entries longer there (XTRIM, MAXLEN)",
        name, id_of(position));
}

void PositionSource::leave(std::string_view partition) {
    if (auto found = streams_.find(partition); found != streams_.end()) {
        streams_.erase(found);
    }
    std::erase_if(ready_, [&](const event::Chunk& chunk) { return chunk.partition == partition; });
}

Result<event::Chunk> PositionSource::read(std::size_t bytes_max, Nanos wait) {
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
        tell_positions();
        auto* client = TRY(link_.get(left));
        if (client != nullptr) {
            auto done = step(*client, bytes_max, std::max(deadline - steady_now(), Nanos{0}));
            if (!done && done.error().code == Errc::LimitExceeded && pace_.count() > 1) {
                // Entries became much larger than those before.
                pace_.slow_down();
                done.error().code = Errc::Unavailable;
            }
            if (!done) {
                asked_.reset();
                link_.lose(done.error());
                if (done.error().code != Errc::Unavailable) {
                    return std::unexpected(std::move(done).error());
                }
            }
        }
        if (ready_.empty() && steady_now() >= deadline) {
            return event::Chunk{};
        }
    }
}

Result<void> PositionSource::step(resp::Client& client, std::size_t bytes_max, Nanos wait) {
    auto block = Nanos{0};
    if (!asked_) {
        block = wait;
        ask(client, block);
        TRY(client.send());
    }
    auto reply = TRY(resp::checked(TRY(client.receive(block + options_.server.call_limit))));
    auto pieces = std::vector<Piece>{};
    auto gathered = gather(reply, pieces);
    asked_.reset();
    if (gathered && !pieces.empty()) {
        gathered = check(client, pieces);
    }
    if (!gathered) {
        forget(pieces);
        return gathered;
    }
    if (!pieces.empty()) {
        take(std::move(pieces), bytes_max);
    }
    return {};
}

void PositionSource::forget(const std::vector<Piece>& pieces) {
    std::ignore = builder_.take({});
    for (const auto& piece : pieces) {
        streams_.find(piece.chunk.partition)->second.position = piece.after;
    }
}

void PositionSource::ask(resp::Client& client, Nanos block) {
    auto millis = std::chrono::floor<std::chrono::milliseconds>(block).count();
    auto& commands = client.commands();
    commands.begin(4 + (millis > 0 ? 2 : 0) + 2 * streams_.size());
    commands.argument(std::string_view{"XREAD"});
    commands.argument(std::string_view{"COUNT"});
    commands.argument(pace_.count());
    if (millis > 0) {
        commands.argument(std::string_view{"BLOCK"});
        commands.argument(millis);
    }
    commands.argument(std::string_view{"STREAMS"});
    auto asked = Asked{};
    for (const auto& [name, stream] : streams_) {
        commands.argument(name);
        asked.emplace_back(name, stream.position);
    }
    for (const auto& [name, position] : asked) {
        commands.argument(id_of(position));
    }
    asked_ = std::move(asked);
}

Result<void> PositionSource::gather(const resp::Reply& reply, std::vector<Piece>& into) {
    auto fault = Result<void>{};
    for_each_stream(reply, [&](std::string_view name, const resp::Reply& entries) {
        if (fault) {
            fault = gather_stream(name, entries, into);
        }
    });
    return fault;
}

Result<void> PositionSource::gather_stream(std::string_view name, const resp::Reply& entries,
                                           std::vector<Piece>& into) {
    auto found = streams_.find(name);
    auto asked = std::ranges::find(*asked_, name, &Asked::value_type::first);
    // It was left, or resumed elsewhere, since it was asked for.
    if (found == streams_.end() || asked == asked_->end() ||
        asked->second != found->second.position) {
        return {};
    }
    auto last = asked->second;
    for (const auto& entry : entries) {
        auto position = position_of(entry.item(0).text());
        if (!position) {
            return fail(Errc::Unsupported, "stream {}: {}", name, position.error().message);
        }
        reader_.read(*position, entry.item(1), builder_);
        last = *position;
    }
    if (builder_.count() > 0) {
        found->second.position = last;
        into.push_back({builder_.take(std::string{name}), asked->second});
    }
    return {};
}

/// And asks for more in the same breath, where there is likely to be more.
Result<void> PositionSource::check(resp::Client& client, const std::vector<Piece>& pieces) {
    auto& commands = client.commands();
    auto is_full = false;
    for (const auto& piece : pieces) {
        is_full = is_full || piece.chunk.records.size() >= pace_.count();
        if (streams_.find(piece.chunk.partition)->second.is_begun) {
            commands.add("XRANGE", piece.chunk.partition, "-", id_of(piece.after), "COUNT", 1);
        } else {
            commands.add("XINFO", "STREAM", piece.chunk.partition);
        }
    }
    if (is_full) {
        ask(client, Nanos{0});
    }
    TRY(client.send());
    for (const auto& piece : pieces) {
        auto& stream = streams_.find(piece.chunk.partition)->second;
        auto reply = TRY(resp::checked(TRY(client.receive())));
        auto is_next = piece.chunk.records.front().number == piece.after + 1;
        if (stream.is_begun && reply.size() == 0 && !is_next) {
            return gone(piece.chunk.partition, piece.after);
        }
        if (!stream.is_begun && options_.start == Start::First &&
            member(reply, "entries-added").number() > member(reply, "length").number()) {
            return gone(piece.chunk.partition, piece.after);
        }
        stream.is_begun = true;
    }
    return {};
}

void PositionSource::take(std::vector<Piece> pieces, std::size_t bytes_max) {
    auto bytes = std::size_t{0};
    auto records = std::size_t{0};
    for (auto& piece : pieces) {
        auto& stream = streams_.find(piece.chunk.partition)->second;
        if (stream.count) {
            *stream.count += piece.chunk.records.size();
        }
        bytes += piece.chunk.bytes->size();
        records += piece.chunk.records.size();
        ready_.push_back(std::move(piece.chunk));
    }
    pace_.learn(records, bytes, pieces.size(), bytes_max);
}

void PositionSource::confirm(std::string_view partition, std::uint64_t position) {
    if (auto found = streams_.find(partition); found != streams_.end()) {
        found->second.confirmed = std::max(found->second.confirmed, position);
    }
}

/// The group's position follows ours for whoever watches the lag; what is behind it may go. Nothing
/// depends on it, so that an error is told and forgotten.
void PositionSource::tell_positions() {
    if (steady_now() - told_at_ < tell_every) {
        return;
    }
    told_at_ = steady_now();
    auto is_any_new = std::ranges::any_of(
        streams_, [](const auto& each) { return each.second.confirmed > each.second.told; });
    if (!is_any_new || (options_.group.empty() && options_.trim != Trim::Confirmed)) {
        return;
    }
    auto found = aside_.get(std::chrono::milliseconds{50});
    if (!found || *found == nullptr) {
        return;
    }
    auto& client = **found;
    for (auto& [name, stream] : streams_) {
        if (stream.confirmed <= stream.told) {
            continue;
        }
        auto id = id_of(stream.confirmed);
        if (!options_.group.empty()) {
            if (stream.count && stream.confirmed == stream.position) {
                client.commands().add("XGROUP", "SETID", name, options_.group, id, "ENTRIESREAD",
                                      *stream.count);
            } else {
                client.commands().add("XGROUP", "SETID", name, options_.group, id);
            }
        }
        // The entry itself stays: it shows that nothing behind it was cut off.
        if (options_.trim == Trim::Confirmed) {
            client.commands().add("XTRIM", name, "MINID", "~", id);
        }
        stream.told = stream.confirmed;
    }
    auto sent = client.send();
    while (sent && client.owed() > 0) {
        auto reply = client.receive();
        if (!reply) {
            sent = std::unexpected(std::move(reply).error());
        } else if (reply->is_error()) {
            diagnostics_.warn("redis does not take the group's position",
                              {{"reason", reply->text()}});
        }
    }
    if (!sent) {
        aside_.lose(sent.error());
    }
}

std::optional<std::uint64_t> PositionSource::lag() {
    auto found = aside_.get(std::chrono::milliseconds{50});
    if (!found || *found == nullptr) {
        return std::nullopt;
    }
    auto& client = **found;
    for (const auto& [name, stream] : streams_) {
        client.commands().add("XINFO", "STREAM", name);
    }
    auto waiting = std::uint64_t{0};
    auto sent = client.send();
    for (auto at = streams_.begin(); sent && at != streams_.end(); ++at) {
        auto info = client.receive();
        if (!info) {
            sent = std::unexpected(std::move(info).error());
            break;
        }
        auto last = position_of(member(*info, "last-generated-id").text());
        if (info->is_error() || (last && *last <= at->second.position)) {
            continue;
        }
        auto added = static_cast<std::uint64_t>(member(*info, "entries-added").number());
        auto length = static_cast<std::uint64_t>(member(*info, "length").number());
        // Without a count all that is there may be waiting.
        waiting += at->second.count ? added - std::min(added, *at->second.count) : length;
    }
    if (!sent) {
        aside_.lose(sent.error());
        return std::nullopt;
    }
    for (const auto& chunk : ready_) {
        waiting += chunk.records.size();
    }
    return waiting;
}

} // namespace sluice::connector::redis::internal

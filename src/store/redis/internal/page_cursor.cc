#include "store/redis/internal/page_cursor.h"

#include <span>
#include <utility>

namespace sluice::store::redis::internal {
namespace {

struct PageSize {
    std::size_t keys;
    std::size_t bytes;
};

// The state of a run fits the first; whoever wants the second is likely to want much.
constexpr auto first_page = PageSize{.keys = 500, .bytes = std::size_t{1} << 20U};
constexpr auto later_page = PageSize{.keys = 4000, .bytes = std::size_t{4} << 20U};

} // namespace

PageCursor::PageCursor(Pool& pool, const Keyspace& keyspace, std::vector<Piece> pieces)
    : pool_(pool), keyspace_(keyspace), pieces_(std::move(pieces)) {
    read_page();
}

std::string_view PageCursor::key() const {
    const auto& entry = entries_[at_];
    return std::string_view{bytes_}.substr(entry.begin, entry.key_bytes);
}

std::string_view PageCursor::value() const {
    const auto& entry = entries_[at_];
    return std::string_view{bytes_}.substr(entry.begin + entry.key_bytes, entry.value_bytes);
}

void PageCursor::next() {
    if (++at_ == entries_.size() && !pieces_.empty()) {
        read_page();
    }
}

void PageCursor::read_page() {
    at_ = 0;
    entries_.clear();
    bytes_.clear();
    while (status_ && entries_.empty() && !pieces_.empty()) {
        status_ = pool_.ask(keyspace_.keys_of(pieces_.front().table),
                            [&](Connection& connection) { return ask(connection); });
    }
    ++page_;
}

Result<void> PageCursor::ask(Connection& connection) {
    auto size = page_ == 0 ? first_page : later_page;
    // The tables of a cluster may lie at different nodes.
    auto pieces = std::span{pieces_}.first(pool_.is_cluster() ? 1 : pieces_.size());
    auto& commands = connection.client().commands();
    commands.begin(5 + 4 * pieces.size());
    commands.argument(std::string_view{"EVALSHA"});
    commands.argument(connection.sha(Script::Page));
    commands.argument(2 * pieces.size());
    for (const auto& piece : pieces) {
        commands.argument(keyspace_.keys_of(piece.table));
        commands.argument(keyspace_.values_of(piece.table));
    }
    commands.argument(size.keys);
    commands.argument(size.bytes);
    for (const auto& piece : pieces) {
        commands.argument(piece.from);
        commands.argument(piece.to);
    }
    TRY(connection.client().send());
    auto reply = TRY(resp::checked(TRY(connection.client().receive())));
    if (reply.size() % 2 != 1 || std::cmp_greater(reply.item(0).number(), pieces.size())) {
        return fail(Errc::Corrupt, "Redis gave a page of {} items", reply.size());
    }
    keep(reply, pieces.size());
    return {};
}

void PageCursor::keep(const resp::Reply& reply, std::size_t asked) {
    auto at = reply.begin();
    auto piece = static_cast<std::size_t>(at->number());
    for (++at; at != reply.end(); ++at) {
        auto key = at->text();
        ++at;
        auto value = at->text();
        entries_.push_back({bytes_.size(), key.size(), value.size()});
        bytes_ += key;
        bytes_ += value;
    }
    auto has_more = piece != 0 && !entries_.empty();
    auto done = static_cast<std::ptrdiff_t>(has_more ? piece - 1 : asked);
    pieces_.erase(pieces_.begin(), pieces_.begin() + done);
    if (!has_more) {
        return;
    }
    const auto& last = entries_.back();
    pieces_.front().from = "(" + bytes_.substr(last.begin, last.key_bytes);
}

} // namespace sluice::store::redis::internal

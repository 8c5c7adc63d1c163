#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/redis/internal/keyspace.h"
#include "store/redis/internal/pool.h"
#include "store/store.h"

namespace sluice::store::redis::internal {

/// Reads keys by pages. A page is as of one moment; the next is as of a later one. In a cluster a
/// page has keys of one table.
class PageCursor final : public Cursor {
public:
    /// The first page is read at once. Pool and keyspace outlive it.
    PageCursor(Pool& pool, const Keyspace& keyspace, std::vector<Piece> pieces);

    bool is_valid() const override { return status_ && at_ < entries_.size(); }
    std::string_view key() const override;
    std::string_view value() const override;
    void next() override;
    Result<void> status() const override { return status_; }

private:
    struct Entry {
        std::size_t begin;
        std::size_t key_bytes;
        std::size_t value_bytes;
    };

    void read_page();
    Result<void> ask(Connection& connection);
    void keep(const resp::Reply& reply, std::size_t asked);

    Pool& pool_;
    const Keyspace& keyspace_;
    std::vector<Piece> pieces_; ///< Where more may lie.
    std::size_t page_ = 0;
    std::string bytes_;
    std::vector<Entry> entries_;
    std::size_t at_ = 0;
    Result<void> status_;
};

} // namespace sluice::store::redis::internal

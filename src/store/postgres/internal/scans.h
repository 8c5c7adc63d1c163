#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "store/postgres/internal/connection.h"

namespace sluice::store::postgres {

/// The scans that do not end with their first page: cursors of the server, all on one connection,
/// in one transaction that lasts as long as any of them. Each sees the moment at which it was
/// declared. From any thread.
class Scans {
public:
    struct Portal {
        std::uint64_t generation = 0; ///< Of the connection it lives on.
        std::uint64_t number = 0;
    };
    struct Opened {
        Portal portal;
        Rows rows;
    };

    explicit Scans(const Options& options) : options_(options) {}

    /// Declares a cursor over [from, to), to the end when `to` is empty, and fetches its first
    /// rows.
    Outcome<Opened> open(std::string_view from, std::string_view to, int count);
    /// Lost when the connection was lost since: what the cursor saw is gone with it.
    Outcome<Rows> fetch(const Portal& portal, int count);
    void close(const Portal& portal);

private:
    Outcome<std::vector<Rows>> run(std::span<const Call> calls);
    void drop();

    const Options& options_;
    std::mutex mutex_;
    std::unique_ptr<Connection> connection_;
    std::uint64_t generation_ = 0;
    std::uint64_t declared_ = 0;
    std::size_t open_ = 0;
};

} // namespace sluice::store::postgres

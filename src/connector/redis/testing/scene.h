#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "connector/redis/options.h"
#include "event/source.h"
#include "observe/testing/captured_diagnostics.h"
#include "resp/client.h"
#include "resp/testing/redis_server.h"

namespace sluice::connector::redis::testing {

/// An event with a number as its id.
std::string event_json(std::uint64_t number, std::size_t data_bytes = 10);

/// A server with streams in it, and what was read from them.
class Scene {
public:
    explicit Scene(resp::testing::Settings settings = {});

    resp::testing::RedisServer& server() { return *server_; }
    bool is_there() const { return server_ != nullptr; }
    Options options(std::string_view query = "") const;

    /// Appends events with the numbers in [from, to).
    void add(const std::string& stream, std::uint64_t from, std::uint64_t to,
             std::size_t data_bytes = 10);
    /// A command of our own; its reply is good until the next.
    template <typename... Words>
    Result<resp::Reply> tell(const Words&... words) {
        connect();
        return client_->call(words...);
    }
    void connect();

private:
    std::unique_ptr<resp::testing::RedisServer> server_;
    std::optional<resp::Client> client_;
};

struct Got {
    std::vector<std::uint64_t> ids;      ///< Of the events, in order.
    std::vector<std::uint64_t> numbers;  ///< Positions.
    std::vector<std::string> partitions; ///< Of each.
    std::vector<std::string> faults;     ///< Of those that are none.
    std::string error;                   ///< Of the source.
};

/// Reads until so many records have come, or nothing comes for long.
Got read(event::Source& source, std::size_t count, std::size_t bytes_max = 64UL * 1024);

/// [from, to)
std::vector<std::uint64_t> numbers(std::uint64_t from, std::uint64_t to);

} // namespace sluice::connector::redis::testing

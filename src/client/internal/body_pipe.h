#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "client/transport.h"

namespace sluice::client::internal {

/// A body on its way from the thread that receives it to the one that reads it.
class BodyPipe {
public:
    static constexpr auto held_bytes_max = std::size_t{1} << 20U;

    /// Waits while too much is held: the other side is then slowed down by its socket.
    void push(std::string_view bytes);
    /// False, and nothing is kept, when too much is held or nobody reads.
    bool offer(std::string_view bytes);
    /// The last of it.
    void end(Result<http::Response> result);

    /// Hands over what comes until the end, until `on_body` has enough, or until nothing has come
    /// for so long (zero: however long). Then nobody reads any more.
    Result<http::Response> read(Nanos idle_time_max, const OnBody& on_body);

private:
    std::optional<Result<http::Response>> take(Nanos idle_time_max, std::string& bytes);
    void shut();

    std::mutex mutex_;
    std::condition_variable has_bytes_;
    std::condition_variable has_room_;
    std::string bytes_;
    std::optional<Result<http::Response>> end_;
    bool is_shut_ = false;
};

} // namespace sluice::client::internal

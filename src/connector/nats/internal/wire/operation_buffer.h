#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"

namespace sluice::connector::nats::internal::wire {

enum class Verb : std::uint8_t { Info, Message, Ping, Pong, Ok, Error };

/// What a server says: an operation of the NATS client protocol.
struct Operation {
    Verb verb = Verb::Ok;
    std::string_view text{}; ///< Of Info its JSON, of Error the reason without its quotes.
    // Of Message, which is MSG or HMSG.
    std::string_view subject{};
    std::uint64_t subscription = 0;
    std::string_view reply{};  ///< Empty: none.
    std::string_view header{}; ///< From `NATS/1.0` on; empty: none.
    std::string_view body{};
};

/// Bytes as a socket brings them, cut into operations. They stay where they were received, so what
/// lies in one is copied first by whoever wants to keep it.
class OperationBuffer {
public:
    /// Of a line. INFO names all servers of a cluster.
    static constexpr auto line_bytes_max = std::size_t{1} << 20U;
    /// Of header and body. A server takes at most 64 MiB, and may add header fields.
    static constexpr auto message_bytes_max = std::size_t{80} << 20U;

    /// Where the next bytes go: never empty. What `next` gave before is void then.
    std::span<char> room();
    void add(std::size_t size) { end_ += size; }

    /// The next operation, once all of it is there. Fails with Corrupt when it is none; what comes
    /// behind has no meaning then.
    Result<std::optional<Operation>> next();

private:
    std::string_view unread() const { return {bytes_.get() + begin_, end_ - begin_}; }
    Result<std::optional<Operation>> next_message(std::string_view line, bool has_header);
    void move_to(std::size_t capacity);

    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_ = 0;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t wanted_ = 0; ///< Of the operation that is not all there, as far as it is known.
};

} // namespace sluice::connector::nats::internal::wire

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <poll.h>

#include "base/clock.h"
#include "base/result.h"
#include "reactor/byte_stream.h"

namespace sluice::connector::kafka::internal {

/// A connection to one broker: a request goes out, its answer comes back, then the next.
class BrokerLink {
public:
    explicit BrokerLink(reactor::ByteStream stream) : stream_(std::move(stream)) {}

    /// While no answer is awaited. The answer is put into this buffer, whatever lies in it.
    void send(std::string request, std::string buffer);
    /// Moves what can be moved without waiting; true when the answer is there. Unavailable when the
    /// connection is lost, or the broker silent for too long.
    Result<bool> advance();
    /// The same, waiting for it until then.
    Result<void> finish(reactor::Deadline deadline);

    bool is_awaiting() const { return is_awaiting_; }
    pollfd poll_entry() const;
    /// Without its size, at the beginning of the buffer. Some bytes of no meaning are behind it.
    std::string_view answer() const { return std::string_view{buffer_}.substr(0, size_); }
    std::string take_buffer() { return std::move(buffer_); }

private:
    Result<void> write();
    Result<bool> read_size();

    reactor::ByteStream stream_;
    std::string request_; ///< What is left of it.
    std::string buffer_;
    std::string head_;     ///< The answer's size, as far as it has come.
    std::size_t size_ = 0; ///< Of the answer; 0: not known yet.
    std::size_t came_ = 0; ///< Of the answer.
    bool is_awaiting_ = false;
    Nanos moved_at_{0};
};

} // namespace sluice::connector::kafka::internal

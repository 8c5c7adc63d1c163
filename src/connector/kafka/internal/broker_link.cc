#include "connector/kafka/internal/broker_link.h"

#include <chrono>
#include <utility>

#include "base/bytes.h"
#include "connector/kafka/internal/client.h"
#include "event/codec.h"

namespace sluice::connector::kafka::internal {

using namespace std::chrono_literals;

namespace {

constexpr auto size_bytes = std::size_t{4};
constexpr auto answer_bytes_max = std::size_t{256} << 20U;
/// A broker that has nothing says so every tenth of a second.
constexpr auto answer_wait_max = Nanos{30s};

} // namespace

void BrokerLink::send(std::string request, std::string buffer) {
    request_ = std::move(request);
    buffer_ = std::move(buffer);
    head_.clear();
    size_ = 0;
    came_ = 0;
    is_awaiting_ = true;
    moved_at_ = steady_now();
    // Whether it got out is seen when the answer is waited for.
    static_cast<void>(write().has_value());
}

Result<void> BrokerLink::write() {
    while (!request_.empty()) {
        auto count = TRY(stream_.write_some(request_));
        request_.erase(0, count);
        if (count == 0) {
            break;
        }
    }
    stream_.acknowledge_at_once();
    return {};
}

pollfd BrokerLink::poll_entry() const {
    auto events = request_.empty() ? stream_.reading_wants()
                                   : static_cast<short>(stream_.reading_wants() | POLLOUT);
    return {.fd = stream_.raw(), .events = events, .revents = 0};
}

Result<bool> BrokerLink::read_size() {
    char bytes[size_bytes];
    auto count = TRY(stream_.read_some({bytes, size_bytes - head_.size()}));
    head_.append(bytes, count);
    if (head_.size() < size_bytes) {
        return false;
    }
    size_ = TRY(Decoder{head_}.u32());
    if (size_ == 0 || size_ > answer_bytes_max) {
        return fail(Errc::Unavailable, "an answer of {} bytes is none of Kafka's", size_);
    }
    buffer_.resize(size_ + event::Codec::padding_bytes);
    return true;
}

Result<bool> BrokerLink::advance() {
    if (!request_.empty()) {
        TRY(write());
    }
    auto before = came_ + head_.size();
    while (size_ > 0 ? came_ < size_ : TRY(read_size())) {
        auto count = TRY(stream_.read_some({buffer_.data() + came_, size_ - came_}));
        came_ += count;
        if (count == 0) {
            break;
        }
    }
    if (came_ + head_.size() != before) {
        moved_at_ = steady_now();
    } else if (steady_now() - moved_at_ > answer_wait_max) {
        return fail(Errc::Unavailable, "the broker does not answer");
    }
    is_awaiting_ = size_ == 0 || came_ < size_;
    return !is_awaiting_;
}

Result<void> BrokerLink::finish(reactor::Deadline deadline) {
    while (!TRY(advance())) {
        TRY(stream_.wait(
            request_.empty() ? reactor::ByteStream::For::Reading : reactor::ByteStream::For::Both,
            deadline));
    }
    return {};
}

} // namespace sluice::connector::kafka::internal

#include "connector/nats/pull_window.h"

#include <algorithm>

namespace sluice::connector::nats {

namespace {

constexpr auto requests_max = std::size_t{2};
constexpr auto messages_max = std::uint64_t{100'000};
// Of subject, header and the subject of the acknowledgement.
constexpr auto envelope_bytes = std::size_t{160};
// How slowly the average follows.
constexpr auto average_over = std::size_t{16};

} // namespace

std::optional<PullWindow::Ask> PullWindow::ask(std::uint64_t request, std::size_t unread_bytes,
                                               bool has_more) {
    if (requests_.size() >= requests_max || (is_asking() && !has_more) ||
        unread_bytes + bytes_on_their_way() > bytes_ / 2) {
        return std::nullopt;
    }
    auto asked = Ask{.request = request, .bytes_max = bytes_ / 2};
    if (bounds_.bytes_max != 0) {
        asked.bytes_max = std::min(asked.bytes_max, bounds_.bytes_max);
    }
    // A request that ends by its count costs no word of the server's; one that ends by bytes does.
    asked.messages =
        std::clamp<std::uint64_t>(asked.bytes_max / 8 * 7 / message_bytes_, 1, messages_max);
    if (bounds_.messages_max != 0) {
        asked.messages = std::min(asked.messages, bounds_.messages_max);
    }
    if (is_next_large_) {
        asked.messages = 1;
        asked.bytes_max = 0;
    }
    requests_.push_back({.number = request, .left = asked.messages});
    return asked;
}

bool PullWindow::has(std::uint64_t request) const {
    return std::ranges::find(requests_, request, &Request::number) != requests_.end();
}

void PullWindow::take(std::size_t bytes) {
    auto size = bytes + envelope_bytes;
    message_bytes_ = (message_bytes_ * (average_over - 1) + size) / average_over;
    is_next_large_ = false;
    if (requests_.empty()) {
        return;
    }
    auto& request = requests_.front();
    request.is_fresh = false;
    if (--request.left == 0) {
        requests_.pop_front();
    }
}

void PullWindow::end(std::uint64_t request) {
    std::erase_if(requests_, [&](const auto& open) { return open.number == request; });
}

void PullWindow::end_too_large(std::uint64_t request) {
    auto found = std::ranges::find(requests_, request, &Request::number);
    is_next_large_ = is_next_large_ || (found != requests_.end() && found->is_fresh);
    end(request);
}

std::size_t PullWindow::bytes_on_their_way() const {
    auto messages = std::uint64_t{0};
    for (const auto& request : requests_) {
        messages += request.left;
    }
    return std::min(messages * message_bytes_, bytes_ / 2 * requests_.size());
}

} // namespace sluice::connector::nats

#include "client/retry.h"

#include <algorithm>
#include <charconv>

namespace sluice::client {

namespace {

/// `Retry-After` in seconds. As a date it says more than is needed here.
std::optional<Nanos> asked_pause(const http::Response& response) {
    const auto* text = response.headers.find("Retry-After");
    auto seconds = std::uint32_t{0};
    if (text == nullptr ||
        std::from_chars(text->data(), text->data() + text->size(), seconds).ec != std::errc{}) {
        return std::nullopt;
    }
    return std::chrono::seconds{seconds};
}

} // namespace

std::optional<Nanos> Retry::pause_after(const Result<http::Response>& attempt) {
    if (++attempts_ >= options_.attempts_max || !is_worth_it(attempt)) {
        return std::nullopt;
    }
    auto longest =
        std::min(options_.pause_min * (1L << std::min(attempts_ - 1, 20U)), options_.pause_max);
    // Many who were refused together do not come back together.
    auto pause = longest / 2 + Nanos{static_cast<std::int64_t>(random_.below(
                                   static_cast<std::uint64_t>(longest.count() / 2 + 1)))};
    if (attempt) {
        if (auto asked = asked_pause(*attempt)) {
            return *asked <= options_.pause_max ? std::optional{std::max(*asked, pause)}
                                                : std::nullopt;
        }
    }
    return pause;
}

bool Retry::is_worth_it(const Result<http::Response>& attempt) const {
    if (!attempt) {
        return attempt.error().code == Errc::Unavailable ||
               (attempt.error().code == Errc::Io && repeat_ == Repeat::Safe);
    }
    return (attempt->status == 429 || attempt->status == 503) && repeat_ == Repeat::Safe;
}

} // namespace sluice::client

#include "client/internal/body_pipe.h"

#include <utility>

namespace sluice::client::internal {

void BodyPipe::push(std::string_view bytes) {
    auto lock = std::unique_lock{mutex_};
    has_room_.wait(lock, [&] { return is_shut_ || bytes_.size() < held_bytes_max; });
    if (!is_shut_) {
        bytes_ += bytes;
        has_bytes_.notify_one();
    }
}

bool BodyPipe::offer(std::string_view bytes) {
    auto lock = std::lock_guard{mutex_};
    if (is_shut_ || end_ || bytes_.size() + bytes.size() > held_bytes_max) {
        return false;
    }
    bytes_ += bytes;
    has_bytes_.notify_one();
    return true;
}

void BodyPipe::end(Result<http::Response> result) {
    auto lock = std::lock_guard{mutex_};
    if (!end_) {
        end_ = std::move(result);
        has_bytes_.notify_one();
    }
}

Result<http::Response> BodyPipe::read(Nanos idle_time_max, const OnBody& on_body) {
    while (true) {
        auto bytes = std::string{};
        if (auto end = take(idle_time_max, bytes)) {
            shut();
            return *std::move(end);
        }
        if (!on_body(bytes)) {
            shut();
            return http::Response{};
        }
    }
}

std::optional<Result<http::Response>> BodyPipe::take(Nanos idle_time_max, std::string& bytes) {
    auto lock = std::unique_lock{mutex_};
    auto is_there = [&] { return end_ || !bytes_.empty(); };
    auto has_come = idle_time_max == Nanos{0} || has_bytes_.wait_for(lock, idle_time_max, is_there);
    if (idle_time_max == Nanos{0}) {
        has_bytes_.wait(lock, is_there);
    }
    if (!has_come) {
        return fail(Errc::LimitExceeded, "nothing came for {} ms",
                    std::chrono::floor<std::chrono::milliseconds>(idle_time_max).count());
    }
    if (bytes_.empty()) {
        return *end_;
    }
    bytes.swap(bytes_);
    has_room_.notify_one();
    return std::nullopt;
}

void BodyPipe::shut() {
    auto lock = std::lock_guard{mutex_};
    is_shut_ = true;
    has_room_.notify_one();
}

} // namespace sluice::client::internal

#include "connector/nats/group_marker.h"

#include <utility>
#include <vector>

#include "connector/nats/session.h"
#include "connector/nats/streams.h"

namespace sluice::connector::nats {

namespace {

constexpr auto mark_time_max = std::chrono::seconds{2};
constexpr auto retry_after = std::chrono::seconds{2};
// For the last words.
constexpr auto stop_time_max = std::chrono::seconds{3};

} // namespace

GroupMarker::GroupMarker(Settings settings, observe::Diagnostics& diagnostics)
    : settings_(std::move(settings)), diagnostics_(diagnostics), thread_([this] { run(); }) {}

GroupMarker::~GroupMarker() {
    {
        auto lock = std::lock_guard{mutex_};
        is_stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

void GroupMarker::move(const std::string& stream, std::uint64_t position) {
    auto lock = std::lock_guard{mutex_};
    auto& mark = marks_[stream];
    if (mark.is_said && mark.position == position) {
        return;
    }
    mark.position = position;
    mark.is_said = false;
    if (!std::exchange(is_dirty_, true)) {
        wake_.notify_all();
    }
}

void GroupMarker::forget(const std::string& stream) {
    auto lock = std::lock_guard{mutex_};
    auto found = marks_.find(stream);
    if (found != marks_.end() && found->second.is_said) {
        marks_.erase(found);
    }
}

void GroupMarker::run() {
    auto session = std::unique_ptr<Session>{};
    auto lock = std::unique_lock{mutex_};
    while (true) {
        wake_.wait(lock, [&] { return is_dirty_ || is_stopping_; });
        if (!is_dirty_) {
            return;
        }
        is_dirty_ = false;
        auto is_last = is_stopping_;
        lock.unlock();
        if (!session) {
            auto opened =
                Session::open(settings_.server, "sluice position", Session::Reconnect::Always);
            session = opened ? std::move(*opened) : nullptr;
        }
        auto is_done = session != nullptr && say_all(*session);
        lock.lock();
        is_dirty_ = is_dirty_ || !is_done;
        if (is_last) {
            return;
        }
        wake_.wait_for(lock, is_done ? settings_.interval : Nanos{retry_after},
                       [&] { return is_stopping_; });
    }
}

bool GroupMarker::say_all(Session& session) {
    auto now = std::chrono::steady_clock::now();
    auto until = now + stop_time_max;
    session.mend(now.time_since_epoch());
    auto unsaid = std::vector<std::pair<std::string, Mark>>{};
    {
        auto lock = std::lock_guard{mutex_};
        for (const auto& [stream, mark] : marks_) {
            if (!mark.is_said) {
                unsaid.emplace_back(stream, mark);
            }
        }
    }
    for (const auto& [stream, mark] : unsaid) {
        if (!session.is_connected() || std::chrono::steady_clock::now() > until) {
            return false;
        }
        auto done = say(session, stream, mark.position, mark.is_refused);
        auto lock = std::lock_guard{mutex_};
        auto& kept = marks_[stream];
        if (!done && done.error().code == Errc::Unavailable) {
            return false;
        }
        kept.is_said = kept.position == mark.position;
        if (!done && !std::exchange(kept.is_refused, true)) {
            diagnostics_.warn("the group's position is not shown",
                              {{"stream", stream}, {"error", done.error().message}});
        }
    }
    return true;
}

Result<void> GroupMarker::say(const Session& session, const std::string& stream,
                              std::uint64_t position, bool is_refused) {
    if (settings_.is_purging && position > 0) {
        TRY(purge_stream(session, stream, position, mark_time_max));
    }
    if (settings_.server.group.empty() || is_refused) {
        return {};
    }
    return mark_position(session, stream, settings_.filter, settings_.server.group, position,
                         mark_time_max);
}

} // namespace sluice::connector::nats

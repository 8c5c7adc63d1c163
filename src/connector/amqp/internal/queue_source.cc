#include "connector/amqp/internal/queue_source.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "connector/amqp/internal/queue_lag.h"

namespace sluice::connector::amqp::internal {

namespace {

// How often the second thread looks after a session that nobody runs.
constexpr auto tick = std::chrono::milliseconds{500};
constexpr auto count_every = std::chrono::seconds{3};
// An attempt to connect and to begin reading ends by itself.
constexpr auto first_attempt_wait = std::chrono::seconds{40};

} // namespace

QueueSource::QueueSource(const Options& options, observe::Diagnostics& diagnostics)
    : options_(options),
      diagnostics_(diagnostics),
      opener_(options_, diagnostics),
      back_off_(static_cast<std::uint64_t>(Steady::now().time_since_epoch().count())),
      keeper_([this] { keep(); }) {}

QueueSource::~QueueSource() {
    {
        auto lock = Lock{mutex_};
        is_stopping_ = true;
        changed_.notify_all();
    }
    keeper_.join();
    if (session_ && session_->flush()) {
        session_->close();
    }
}

Result<void> QueueSource::resume(std::string_view partition, std::uint64_t position) {
    auto lock = Lock{mutex_};
    auto name = std::string{partition};
    if (options_.type != QueueType::Stream) {
        position = 0;
    }
    if (session_) {
        session_->detach(name);
    }
    partitions_.insert_or_assign(name, Partition{.position = position});
    if (session_) {
        auto attached = session_->attach(name, position);
        if (attached) {
            return {};
        }
        auto code = attached.error().code;
        if (code != Errc::Unavailable && code != Errc::Unsupported) {
            partitions_.erase(name);
            return attached;
        }
        lose_session(attached.error());
        if (code == Errc::Unavailable) {
            return {};
        }
        opener_.avoid_stream_protocol(attached.error());
    }
    auto attempt = attempts_;
    next_attempt_ = Steady::now();
    changed_.notify_all();
    changed_.wait_for(lock, first_attempt_wait,
                      [&] { return session_ || failure_ || attempts_ != attempt; });
    if (failure_) {
        partitions_.erase(name);
        return std::unexpected(*std::exchange(failure_, std::nullopt));
    }
    return {};
}

void QueueSource::leave(std::string_view partition) {
    auto lock = Lock{mutex_};
    auto name = std::string{partition};
    partitions_.erase(name);
    if (session_) {
        if (auto flushed = session_->flush(); !flushed) {
            lose_session(flushed.error());
            return;
        }
        session_->detach(name);
    }
}

Result<event::Chunk> QueueSource::read(std::size_t bytes_max, Nanos wait) {
    auto lock = Lock{mutex_};
    auto deadline = Steady::now() + wait;
    while (true) {
        if (failure_) {
            return std::unexpected(*failure_);
        }
        if (session_) {
            TRY(fill(bytes_max, deadline));
        }
        if (auto chunk = session_ ? session_->take() : std::nullopt; chunk) {
            if (auto found = partitions_.find(chunk->partition); found != partitions_.end()) {
                found->second.position = chunk->records.back().number;
            }
            return *std::move(chunk);
        }
        if (Steady::now() >= deadline) {
            return event::Chunk{};
        }
        if (!session_) {
            changed_.wait_until(lock, deadline, [&] { return session_ || failure_; });
        }
    }
}

/// A session that is lost is no error: another will come.
Result<void> QueueSource::fill(std::size_t bytes_max, Steady::time_point deadline) {
    auto done = session_->flush();
    if (done) {
        done = session_->pump(bytes_max, deadline);
    }
    if (done) {
        return {};
    }
    if (done.error().code == Errc::Unavailable) {
        lose_session(done.error());
        return {};
    }
    failure_ = done.error();
    return done;
}

void QueueSource::lose_session(const Error& why) {
    session_.reset();
    trouble_ = why.message;
    next_attempt_ = Steady::now() + back_off_.next();
    diagnostics_.warn("broker lost", {{"broker", options_.place()}, {"why", why.message}});
    changed_.notify_all();
}

void QueueSource::pass_over(std::string_view partition, std::uint64_t number) {
    auto lock = Lock{mutex_};
    auto found = partitions_.find(partition);
    if (options_.type == QueueType::Stream || found == partitions_.end()) {
        return;
    }
    auto done = found->second.confirmations.pass_over(number);
    if (session_) {
        session_->confirm(partition, done);
    }
}

void QueueSource::confirm(std::string_view partition, std::uint64_t position) {
    auto lock = Lock{mutex_};
    auto found = partitions_.find(partition);
    if (options_.type == QueueType::Stream || found == partitions_.end()) {
        return;
    }
    auto done = found->second.confirmations.confirm(position);
    if (session_) {
        session_->confirm(partition, done);
    }
}

std::optional<std::uint64_t> QueueSource::lag() {
    auto lock = Lock{mutex_};
    is_lag_wanted_ = true;
    changed_.notify_all();
    return lag_;
}

std::string QueueSource::trouble() const {
    auto lock = Lock{mutex_};
    return failure_ ? failure_->message : trouble_;
}

void QueueSource::keep() {
    auto lock = Lock{mutex_};
    auto next_heartbeat = Steady::now() + options_.heartbeat / 2;
    while (!is_stopping_) {
        auto now = Steady::now();
        if (!session_ && !failure_ && !partitions_.empty() && now >= next_attempt_) {
            connect(lock);
            continue;
        }
        if (is_lag_wanted_ && now >= next_count_) {
            count_waiting(lock);
            continue;
        }
        if (session_) {
            auto kept = now >= next_heartbeat ? session_->keep_alive() : session_->flush();
            if (now >= next_heartbeat) {
                next_heartbeat = now + options_.heartbeat / 2;
            }
            if (!kept) {
                lose_session(kept.error());
            }
        }
        auto until = now + tick;
        if (!session_ && !partitions_.empty() && !failure_) {
            until = std::min(until, next_attempt_);
        }
        changed_.wait_until(lock, until);
    }
}

void QueueSource::connect(Lock& lock) {
    auto made = make_session(lock);
    ++attempts_;
    if (made) {
        session_ = *std::move(made);
        back_off_.reset();
        if (!trouble_.empty()) {
            diagnostics_.info("broker reached again", {{"broker", options_.place()}});
        }
        trouble_.clear();
    } else if (made.error().code == Errc::Unavailable) {
        trouble_ = made.error().message;
        next_attempt_ = Steady::now() + back_off_.next();
    } else {
        failure_ = made.error();
    }
    changed_.notify_all();
}

/// The lock is open while the broker is asked. What was resumed or left meanwhile comes last.
Result<std::unique_ptr<Session>> QueueSource::make_session(Lock& lock) {
    auto wanted = partitions_;
    lock.unlock();
    auto session = open_session(wanted);
    if (!session && session.error().code == Errc::Unsupported) {
        opener_.avoid_stream_protocol(session.error());
        session = open_session(wanted);
    }
    lock.lock();
    if (session) {
        TRY(catch_up(**session, wanted));
    }
    return session;
}

Result<std::unique_ptr<Session>> QueueSource::open_session(const Partitions& partitions) {
    auto session = TRY(opener_.open());
    for (const auto& [name, partition] : partitions) {
        TRY(session->attach(name, partition.position));
    }
    return session;
}

Result<void> QueueSource::catch_up(Session& session, const Partitions& wanted) {
    for (const auto& [name, partition] : wanted) {
        auto found = partitions_.find(name);
        if (found == partitions_.end() || found->second.position != partition.position) {
            session.detach(name);
        }
    }
    for (const auto& [name, partition] : partitions_) {
        auto found = wanted.find(name);
        if (found != wanted.end() && found->second.position == partition.position) {
            continue;
        }
        auto attached = session.attach(name, partition.position);
        if (!attached && attached.error().code == Errc::Unsupported) {
            opener_.avoid_stream_protocol(attached.error());
            return fail(Errc::Unavailable, "{}", attached.error().message);
        }
        TRY(std::move(attached));
    }
    return {};
}

void QueueSource::count_waiting(Lock& lock) {
    is_lag_wanted_ = false;
    next_count_ = Steady::now() + count_every;
    auto positions = std::map<std::string, std::uint64_t>{};
    for (const auto& [name, partition] : partitions_) {
        positions.emplace(name, partition.position);
    }
    lock.unlock();
    auto counted = count_lag(options_, positions);
    lock.lock();
    lag_ = counted ? std::optional{*counted} : std::nullopt;
}

} // namespace sluice::connector::amqp::internal

#include "connector/redis/producer.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "connector/redis/entry.h"
#include "connector/redis/internal/link.h"

namespace sluice::connector::redis {
namespace {

// More than this waits in `send`.
constexpr auto waiting_bytes_max = std::size_t{32} << 20U;
constexpr auto waiting_events_max = std::size_t{50'000};
// One batch in flight: its answers are awaited before the next.
constexpr auto batch_events_max = std::size_t{2'000};
constexpr auto batch_bytes_max = std::size_t{1} << 20U;

struct Job {
    event::Outgoing event;
    event::Producer::Done done;
    Nanos since{0};
};

class StreamProducer final : public event::Producer {
public:
    StreamProducer(const Options& options, observe::Diagnostics& diagnostics)
        : options_(options),
          link_(options.server, diagnostics),
          writer_(options.mode),
          thread_([this](const std::stop_token& stop) { run(stop); }) {}
    ~StreamProducer() override;

    void send(event::Outgoing event, Done done) override;
    Result<void> flush(Nanos wait) override;

private:
    void run(const std::stop_token& stop);
    void take_batch(const std::stop_token& stop);
    Result<void> deliver();
    void settle_batch(const Error& error);
    void finish(Job job, Result<void> outcome);
    /// Makes room for what waits in `send`.
    void release();

    const Options options_;
    internal::Link link_;
    EntryWriter writer_;
    // Of the thread alone.
    std::deque<Job> batch_; ///< Sent or being sent, without an answer.
    std::size_t finished_events_ = 0;
    std::size_t finished_bytes_ = 0;

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<Job> queue_;
    std::size_t waiting_bytes_ = 0; ///< Of all that is not finished.
    std::size_t waiting_events_ = 0;
    bool is_ending_ = false;
    std::jthread thread_;
};

StreamProducer::~StreamProducer() {
    {
        auto lock = std::lock_guard{mutex_};
        is_ending_ = true;
    }
    changed_.notify_all();
    thread_.request_stop();
    thread_.join();
    auto error = Error{Errc::Unavailable, "the producer was closed before it was sent"};
    settle_batch(error);
    for (auto& job : queue_) {
        finish(std::move(job), std::unexpected(error));
    }
    release();
}

void StreamProducer::send(event::Outgoing event, Done done) {
    auto bytes = event.json.size();
    {
        auto lock = std::unique_lock{mutex_};
        changed_.wait(lock, [&] {
            return is_ending_ || waiting_events_ == 0 ||
                   (waiting_events_ < waiting_events_max &&
                    waiting_bytes_ + bytes <= waiting_bytes_max);
        });
        if (!is_ending_) {
            ++waiting_events_;
            waiting_bytes_ += bytes;
            queue_.push_back({std::move(event), std::move(done), SystemClock{}.steady()});
            if (queue_.size() == 1) {
                changed_.notify_all();
            }
            return;
        }
    }
    done(fail(Errc::Unavailable, "the producer is being closed"));
}

Result<void> StreamProducer::flush(Nanos wait) {
    auto lock = std::unique_lock{mutex_};
    if (!changed_.wait_for(lock, wait, [&] { return waiting_events_ == 0; })) {
        return fail(Errc::Unavailable, "{} events are not confirmed yet", waiting_events_);
    }
    return {};
}

void StreamProducer::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        take_batch(stop);
        if (batch_.empty()) {
            continue;
        }
        auto delivered = deliver();
        if (!delivered && !batch_.empty() &&
            (delivered.error().code != Errc::Unavailable ||
             SystemClock{}.steady() - batch_.front().since > options_.patience)) {
            settle_batch(delivered.error());
        }
        release();
    }
}

/// Waits for something to do, unless there is.
void StreamProducer::take_batch(const std::stop_token& stop) {
    auto lock = std::unique_lock{mutex_};
    if (batch_.empty()) {
        changed_.wait(lock, stop, [&] { return !queue_.empty(); });
    }
    auto bytes = std::size_t{0};
    for (const auto& job : batch_) {
        bytes += job.event.json.size();
    }
    while (!queue_.empty() && batch_.size() < batch_events_max && bytes < batch_bytes_max) {
        bytes += queue_.front().event.json.size();
        batch_.push_back(std::move(queue_.front()));
        queue_.pop_front();
    }
}

Result<void> StreamProducer::deliver() {
    auto* client = TRY(link_.get(std::chrono::milliseconds{200}));
    if (client == nullptr) {
        return fail(Errc::Unavailable, "{}", link_.trouble());
    }
    auto outcomes = std::vector<Result<void>>{};
    for (const auto& job : batch_) {
        outcomes.push_back(
            writer_.write(job.event.to, job.event.json, options_.length_max, client->commands()));
    }
    auto sent = client->send();
    for (auto at = std::size_t{0}; sent && at < outcomes.size(); ++at) {
        if (!outcomes[at]) {
            auto job = std::move(batch_.front());
            batch_.pop_front();
            finish(std::move(job), std::move(outcomes[at]));
            continue;
        }
        auto reply = client->receive();
        if (!reply) {
            sent = std::unexpected(std::move(reply).error());
            break;
        }
        auto outcome = Result<void>{};
        if (reply->is_error()) {
            auto error = resp::error_of(*reply);
            // It is loading, or the master became a replica and its name leads to another by now.
            if (error.code == Errc::Unavailable || error.message.starts_with("READONLY")) {
                sent = fail(Errc::Unavailable, "{}", error.message);
                break;
            }
            // What the server has no room for now it may have later.
            auto code = error.code == Errc::NoSpace ? Errc::Unavailable : error.code;
            outcome = std::unexpected(Error{code, std::move(error.message)});
        }
        auto job = std::move(batch_.front());
        batch_.pop_front();
        finish(std::move(job), std::move(outcome));
    }
    if (!sent) {
        link_.lose(sent.error());
    }
    return sent;
}

void StreamProducer::settle_batch(const Error& error) {
    while (!batch_.empty()) {
        auto job = std::move(batch_.front());
        batch_.pop_front();
        finish(std::move(job), std::unexpected(error));
    }
}

void StreamProducer::finish(Job job, Result<void> outcome) {
    job.done(std::move(outcome));
    ++finished_events_;
    finished_bytes_ += job.event.json.size();
}

void StreamProducer::release() {
    {
        auto lock = std::lock_guard{mutex_};
        waiting_events_ -= std::exchange(finished_events_, 0);
        waiting_bytes_ -= std::exchange(finished_bytes_, 0);
    }
    changed_.notify_all();
}

} // namespace

Result<std::unique_ptr<event::Producer>> open_producer(const Options& options,
                                                       observe::Diagnostics& diagnostics) {
    return std::make_unique<StreamProducer>(options, diagnostics);
}

} // namespace sluice::connector::redis

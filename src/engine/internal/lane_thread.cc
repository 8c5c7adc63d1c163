#include "engine/internal/lane_thread.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "reactor/thread.h"

namespace sluice::engine {

namespace {

constexpr auto sweep_interval = std::chrono::seconds{1};
constexpr auto reserved_bytes = std::size_t{8} * 1024 * 1024;

} // namespace

LaneThread::LaneThread(store::Store& store, Committer& committer, LaneOutputs outputs,
                       LaneLimits limits, observe::Diagnostics& diagnostics, std::string name)
    : lane_(store, committer, std::move(outputs), limits, diagnostics),
      name_(std::move(name)),
      mailbox_({.items_max = 64}) {
    lane_.set_return([this](std::unique_ptr<Commit> commit, Result<void> result) {
        mailbox_.push_unbounded(Returned{std::move(commit), std::move(result)});
    });
}

LaneThread::~LaneThread() {
    stop();
}

void LaneThread::lose(const Error& error, std::function<void()> done) {
    ++losses_;
    order([this, error, done = std::move(done)](Lane& lane) {
        lane.lose(error);
        --losses_;
        done();
    });
}

void LaneThread::start() {
    thread_ = reactor::start_thread(name_, [this](std::stop_token) { run(); });
}

void LaneThread::stop() {
    if (thread_.joinable()) {
        mailbox_.push_unbounded(Stop{});
        thread_.join();
    }
}

void LaneThread::post(Input&& input) {
    if (std::this_thread::get_id() == thread_id_.load(std::memory_order_relaxed)) {
        own_.push_back(std::move(input));
        return;
    }
    mailbox_.push_unbounded(std::move(input));
}

void LaneThread::push(Input&& input) {
    mailbox_.push(std::move(input));
}

void LaneThread::run() {
    thread_id_ = std::this_thread::get_id();
    reactor::reserve_memory(reserved_bytes);
    next_sweep_ = std::chrono::steady_clock::now() + sweep_interval;
    auto inputs = std::vector<Input>{};
    while (!lane_.has_stopped()) {
        collect(inputs);
        auto did = lane_.step(inputs);
        if (did || !own_.empty()) {
            continue;
        }
        if (is_stopping_ && lane_.in_flight() == 0) {
            return;
        }
        wait();
    }
    refuse_rest();
}

/// After a failed commit: until the engine is stopped, whoever still sends hears why.
void LaneThread::refuse_rest() {
    while (!is_stopping_) {
        mailbox_.wait();
        mailbox_.pop_all(mail_);
        for (auto& each : mail_) {
            if (auto* input = std::get_if<Input>(&each)) {
                Lane::refuse(*input, *lane_.stop_reason());
            }
            is_stopping_ |= std::holds_alternative<Stop>(each);
        }
    }
}

void LaneThread::collect(std::vector<Input>& inputs) {
    mailbox_.pop_all(mail_);
    for (auto& each : mail_) {
        if (auto* input = std::get_if<Input>(&each)) {
            inputs.push_back(std::move(*input));
        } else if (auto* returned = std::get_if<Returned>(&each)) {
            lane_.committed(std::move(returned->commit), std::move(returned->result));
        } else if (auto* order = std::get_if<Order>(&each)) {
            // What came before is for the shards as they are.
            lane_.take(inputs);
            (*order)(lane_);
        } else {
            is_stopping_ = true;
            lane_.drain();
        }
    }
    mail_.clear();
    auto own = std::exchange(own_, {});
    // What a stopping lane tells itself stands in the outbox: it comes again at the next start.
    if (!is_stopping_) {
        std::ranges::move(own, std::back_inserter(inputs));
    }
}

void LaneThread::wait() {
    auto now = std::chrono::steady_clock::now();
    if (now >= next_sweep_) {
        next_sweep_ = now + sweep_interval;
        lane_.sweep();
    }
    auto next = lane_.until_next();
    if (next && *next <= Nanos{0}) {
        return;
    }
    auto deadline = next_sweep_;
    if (next && now + *next < deadline) {
        deadline = now + std::chrono::duration_cast<std::chrono::steady_clock::duration>(*next);
    }
    mailbox_.wait(deadline);
}

} // namespace sluice::engine

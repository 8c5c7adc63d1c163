#include "connector/kafka/internal/fetch_thread.h"

#include <chrono>
#include <iterator>
#include <utility>

#include <sys/eventfd.h>

namespace sluice::connector::kafka::internal {

using namespace std::chrono_literals;

namespace {

constexpr auto step_wait_max = Nanos{1s};

} // namespace

FetchThread::FetchThread(rd_kafka_t* client, const Options& options)
    : fetcher_(client, options),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_(reactor::start_thread("fetch", [this](const std::stop_token& stop) { run(stop); })) {}

FetchThread::~FetchThread() {
    thread_.request_stop();
    wake();
}

std::uint64_t FetchThread::begin(const PartitionName& name, std::int64_t offset) {
    auto term = ++terms_;
    order([this, name, offset, term] { fetcher_.begin(name, offset, term); });
    return term;
}

void FetchThread::end(const PartitionName& name) {
    order([this, name] { fetcher_.end(name); });
}

void FetchThread::order(std::function<void()> change) {
    {
        auto lock = std::lock_guard{mutex_};
        orders_.push_back(std::move(change));
    }
    wake();
}

void FetchThread::wake() const {
    ::eventfd_write(wake_.raw(), 1);
}

Result<std::vector<Fetcher::Delivery>> FetchThread::take(Nanos wait) {
    auto lock = std::unique_lock{mutex_};
    changed_.wait_for(lock, wait, [&] { return !arrived_.empty() || error_; });
    if (!arrived_.empty()) {
        auto arrived = std::exchange(arrived_, {});
        lock.unlock();
        wake(); // There is room for more.
        return arrived;
    }
    if (error_) {
        return std::unexpected(*error_);
    }
    return std::vector<Fetcher::Delivery>{};
}

std::string FetchThread::trouble() const {
    auto lock = std::lock_guard{mutex_};
    return trouble_;
}

void FetchThread::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        auto lock = std::unique_lock{mutex_};
        auto orders = std::exchange(orders_, {});
        auto what = arrived_.empty() ? Fetcher::Ask::More : Fetcher::Ask::Nothing;
        lock.unlock();
        for (const auto& change : orders) {
            change();
        }
        auto deliveries = fetcher_.poll(what, step_wait_max, wake_.raw());
        auto count = eventfd_t{0};
        ::eventfd_read(wake_.raw(), &count);
        lock.lock();
        trouble_ = fetcher_.trouble();
        if (!deliveries) {
            error_ = deliveries.error();
            changed_.notify_one();
            return;
        }
        if (!deliveries->empty()) {
            std::ranges::move(*deliveries, std::back_inserter(arrived_));
            changed_.notify_one();
        }
    }
}

} // namespace sluice::connector::kafka::internal

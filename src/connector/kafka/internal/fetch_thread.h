#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "connector/kafka/internal/fetcher.h"
#include "reactor/file_descriptor.h"
#include "reactor/thread.h"

namespace sluice::connector::kafka::internal {

/// Fetches ahead, on a thread of its own: the next answer is taken in while the one before is
/// decided, and no more than that.
class FetchThread {
public:
    /// Client and options outlive it.
    FetchThread(rd_kafka_t* client, const Options& options);
    ~FetchThread();

    /// It is read from this offset on, or a logical one. What comes of it has the term given back.
    std::uint64_t begin(const PartitionName& name, std::int64_t offset);
    void end(const PartitionName& name);
    /// What has come by now; waits so long for the first. Unsupported: somebody else must read.
    Result<std::vector<Fetcher::Delivery>> take(Nanos wait);
    /// Why nothing comes; empty: all is well.
    std::string trouble() const;

private:
    void order(std::function<void()> change);
    void wake() const;
    void run(const std::stop_token& stop);

    Fetcher fetcher_; ///< The thread's own.
    reactor::FileDescriptor wake_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::function<void()>> orders_;
    std::uint64_t terms_ = 0;
    std::vector<Fetcher::Delivery> arrived_;
    std::optional<Error> error_;
    std::string trouble_;
    std::jthread thread_;
};

} // namespace sluice::connector::kafka::internal

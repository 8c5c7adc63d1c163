#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "observe/metrics.h"
#include "reactor/mailbox.h"
#include "store/store.h"

namespace sluice::engine {

/// Makes batches durable, one at a time and in order.
class Committer {
public:
    using Done = std::move_only_function<void(std::unique_ptr<store::Batch>, Result<void>)>;

    virtual ~Committer() = default;
    /// Returns at once; `done` comes when the batch is durable, or has failed.
    virtual void submit(std::unique_ptr<store::Batch> batch, Done done) = 0;
    /// In the caller's thread, for when there is nothing else to do meanwhile: saves waking
    /// another.
    virtual Result<void> commit_here(store::Batch& batch) = 0;
};

/// Syncs on a thread of its own, so that the next batch is decided meanwhile.
class CommitThread final : public Committer {
public:
    /// Tells how long each commit took, unless the histogram is null.
    explicit CommitThread(store::Store& store, observe::Histogram* taken = nullptr);
    ~CommitThread() override;

    void submit(std::unique_ptr<store::Batch> batch, Done done) override;
    Result<void> commit_here(store::Batch& batch) override;

private:
    struct Work {
        std::unique_ptr<store::Batch> batch;
        Done done;
    };

    void run();

    store::Store& store_;
    observe::Histogram* taken_;
    std::mutex commit_mutex_; ///< The store takes one commit at a time.
    reactor::Mailbox<Work> mailbox_;
    std::jthread thread_;
};

} // namespace sluice::engine

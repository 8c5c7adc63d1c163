#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "engine/internal/commit.h"
#include "observe/metrics.h"
#include "reactor/mailbox.h"
#include "store/store.h"

namespace sluice::engine {

/// Makes commits durable, one at a time and in order.
class Committer {
public:
    using Done = std::move_only_function<void(std::unique_ptr<Commit>, Result<void>)>;

    virtual ~Committer() = default;
    /// Returns at once; `done` comes when it is durable, or has failed.
    virtual void submit(std::unique_ptr<Commit> commit, Done done) = 0;
    /// In the caller's thread, for when there is nothing else to do meanwhile: saves waking
    /// another.
    virtual Result<void> commit_here(Commit& commit) = 0;
};

/// Syncs on a thread of its own, so that the next commit is decided meanwhile.
class CommitThread final : public Committer {
public:
    /// Tells how long each commit took, unless the histogram is null.
    explicit CommitThread(store::Store& store, observe::Histogram* taken = nullptr);
    ~CommitThread() override;

    void submit(std::unique_ptr<Commit> commit, Done done) override;
    Result<void> commit_here(Commit& commit) override;

private:
    struct Work {
        std::unique_ptr<Commit> commit;
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

#include "engine/internal/committer.h"

#include <chrono>
#include <utility>

#include "reactor/thread.h"

namespace sluice::engine {

CommitThread::CommitThread(store::Store& store, observe::Histogram* taken)
    : store_(store),
      taken_(taken),
      thread_(reactor::start_thread("commit", [this](std::stop_token) { run(); })) {}

CommitThread::~CommitThread() {
    mailbox_.close();
}

void CommitThread::submit(std::unique_ptr<Commit> commit, Done done) {
    mailbox_.push_unbounded({.commit = std::move(commit), .done = std::move(done)});
}

Result<void> CommitThread::commit_here(Commit& commit) {
    auto& batch = commit.finish();
    auto lock = std::lock_guard{commit_mutex_};
    auto began = std::chrono::steady_clock::now();
    auto result = store_.commit(batch);
    if (taken_ != nullptr) {
        taken_->add(std::chrono::steady_clock::now() - began);
    }
    return result;
}

void CommitThread::run() {
    auto works = std::vector<Work>{};
    while (mailbox_.wait() != reactor::Wake::Closed) {
        mailbox_.pop_all(works);
        for (auto& work : works) {
            auto result = commit_here(*work.commit);
            work.done(std::move(work.commit), std::move(result));
        }
    }
}

} // namespace sluice::engine

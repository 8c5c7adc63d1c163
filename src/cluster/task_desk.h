#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "connector/poll/desk.h"
#include "reactor/scheduler.h"

namespace sluice::cluster {

/// Asks the process at an address for tasks: `done` comes once. What it gives ends that early.
using PeerTasks = std::move_only_function<void(Result<std::vector<connector::poll::Task>>)>;
using AskPeer = std::function<std::function<void()>(
    const std::string& address, const connector::poll::Question& question, PeerTasks done)>;

/// Tasks of functions of kind `poll`, whichever process has called them.
///
/// As long as somebody here waits, every process is asked to tell when it has a task that nobody
/// took; the task is then asked for without waiting. So nothing is called off that may bring one: a
/// task on its way to nobody would be missing until its lease ends.
class TaskDesk final : public connector::poll::Desk {
public:
    /// `own` are the tasks of this process. All outlive it.
    TaskDesk(Desk& own, AskPeer ask_peer, reactor::Scheduler& timers);
    ~TaskDesk() override;
    TaskDesk(const TaskDesk&) = delete;
    TaskDesk& operator=(const TaskDesk&) = delete;

    /// One that does not want to wait waits for as long as the others take to answer.
    std::function<void()> ask(connector::poll::Question question, Take take) override;
    void end_asking() override;
    /// Where the other processes are, as of now.
    void set_peers(std::vector<std::string> addresses);

private:
    class Lines;

    std::shared_ptr<Lines> lines_; // Shared with answers that are under way.
};

} // namespace sluice::cluster

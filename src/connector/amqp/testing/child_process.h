#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace sluice::connector::amqp::testing {

/// A program that ends with this process, however that ends.
class ChildProcess {
public:
    struct Settings {
        std::vector<std::string> command;
        std::vector<std::string> environment; ///< `NAME=value`, beside this process's own.
        std::string output;                   ///< A file that takes what it says.
    };

    ChildProcess() = default;
    ~ChildProcess();
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    void start(const Settings& settings);
    bool is_running();
    /// Sends the signal; after SIGTERM waits some seconds, and then insists.
    void end(int signal);
    void send(int signal) const;

private:
    bool wait_for_end(int seconds);

    pid_t pid_ = -1;
};

} // namespace sluice::connector::amqp::testing

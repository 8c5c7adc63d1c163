#include "connector/amqp/testing/child_process.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::connector::amqp::testing {

namespace {

std::vector<char*> pointers_of(std::vector<std::string>& texts) {
    auto pointers = std::vector<char*>{};
    for (auto& text : texts) {
        pointers.push_back(text.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

} // namespace

ChildProcess::~ChildProcess() {
    end(SIGKILL);
}

void ChildProcess::start(const Settings& settings) {
    auto command = settings.command;
    auto environment = settings.environment;
    for (auto** each = environ; *each != nullptr; ++each) {
        environment.emplace_back(*each);
    }
    auto arguments = pointers_of(command);
    auto variables = pointers_of(environment);
    auto output = ::open(settings.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    pid_ = ::fork();
    if (pid_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::setpgid(0, 0);
        ::dup2(output, STDOUT_FILENO);
        ::dup2(output, STDERR_FILENO);
        ::execve(arguments[0], arguments.data(), variables.data());
        ::_exit(127);
    }
    ::close(output);
}

bool ChildProcess::is_running() {
    return pid_ > 0 && !wait_for_end(0);
}

void ChildProcess::send(int signal) const {
    if (pid_ > 0) {
        ::kill(-pid_, signal);
    }
}

void ChildProcess::end(int signal) {
    if (pid_ <= 0) {
        return;
    }
    send(signal);
    send(SIGCONT);
    if (!wait_for_end(20)) {
        send(SIGKILL);
        wait_for_end(20);
    }
}

bool ChildProcess::wait_for_end(int seconds) {
    auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{seconds};
    while (true) {
        auto status = 0;
        if (::waitpid(pid_, &status, WNOHANG) == pid_) {
            pid_ = -1;
            return true;
        }
        if (std::chrono::steady_clock::now() >= deadline) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
}

} // namespace sluice::connector::amqp::testing

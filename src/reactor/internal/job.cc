#include "reactor/internal/job.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::reactor::internal {
namespace {

// Of one pipe at a time, so that a child that never stops writing does not starve the others.
constexpr auto reads_max = 16;
constexpr auto error_line_bytes_max = std::size_t{4'096};

/// Hands what the pipe holds to `take`, and closes it at its end.
template <typename Take>
void read_pipe(FileDescriptor& pipe, Take take) {
    auto buffer = std::array<char, 65'536>{};
    for (auto reads = 0; pipe.is_open() && reads < reads_max; reads++) {
        auto size = ::read(pipe.raw(), buffer.data(), buffer.size());
        if (size > 0) {
            take(std::string_view{buffer.data(), static_cast<std::size_t>(size)});
        } else if (size < 0 && errno == EAGAIN) {
            return;
        } else if (size == 0 || errno != EINTR) {
            pipe.close();
        }
    }
}

void keep_end(std::string& text, std::size_t size_max) {
    if (text.size() > size_max) {
        text.erase(0, text.size() - size_max);
    }
}

} // namespace

Job::Job(Command command, const CommandLimits& limits, Done done)
    : command_(std::move(command)), limits_(limits), done_(std::move(done)) {}

Result<void> Job::start(Moment now) {
    child_ = TRY(spawn(command_));
    // It has no input yet, so whatever it does for us it does within them.
    if (command_.resources != ResourceLimits{}) {
        confinement_ = Confinement::of(child_.pid, command_.resources, limits_.control_group);
    }
    if (command_.timeout > Nanos{0}) {
        deadline_ = now + std::min<Nanos>(command_.timeout, Moment::max() - now);
    }
    return {};
}

bool Job::is_over() const {
    return stage_ == Stage::Exited && !child_.output.is_open() && !child_.errors.is_open();
}

void Job::feed_input() {
    while (child_.input.is_open() && written_ < command_.input.size()) {
        auto size = ::write(child_.input.raw(), command_.input.data() + written_,
                            command_.input.size() - written_);
        if (size >= 0) {
            written_ += static_cast<std::size_t>(size);
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR) {
            // It may well succeed without reading all of its input.
            break;
        }
    }
    command_.input.clear();
    written_ = 0;
    if (!listener_ || has_hung_up_) {
        child_.input.close();
    }
}

void Job::say(std::string_view bytes) {
    command_.input.append(bytes);
    feed_input();
}

void Job::hang_up(Moment now) {
    if (stage_ == Stage::Running && !has_hung_up_) {
        has_hung_up_ = true;
        deadline_ = now + limits_.grace;
        feed_input();
    }
}

/// Lines that are whole; of one that is not, the beginning stays in the outcome's output.
void Job::hear(std::string_view bytes) {
    outcome_.output.append(bytes);
    auto begin = std::size_t{0};
    auto end = outcome_.output.find('\n', outcome_.output.size() - bytes.size());
    for (; end != std::string::npos; end = outcome_.output.find('\n', begin)) {
        listener_->on_line(std::string_view{outcome_.output}.substr(begin, end - begin));
        begin = end + 1;
    }
    outcome_.output.erase(0, begin);
    if (outcome_.output.size() > limits_.output_bytes_max) {
        outcome_.is_output_cut = true;
        outcome_.output.clear();
        signal_group(SIGKILL);
    }
}

void Job::read_output() {
    read_pipe(child_.output, [this](std::string_view bytes) {
        if (listener_) {
            hear(bytes);
            return;
        }
        auto room = limits_.output_bytes_max - outcome_.output.size();
        outcome_.output.append(bytes.substr(0, room));
        outcome_.is_output_cut |= bytes.size() > room;
    });
}

void Job::read_errors() {
    read_pipe(child_.errors, [this](std::string_view bytes) {
        if (listener_) {
            hear_errors(bytes);
        }
        outcome_.errors.append(bytes);
        if (outcome_.errors.size() > 2 * limits_.errors_bytes_max) {
            keep_end(outcome_.errors, limits_.errors_bytes_max);
        }
    });
}

void Job::hear_errors(std::string_view bytes) {
    while (!bytes.empty()) {
        auto end = bytes.find('\n');
        auto room = error_line_bytes_max - std::min(error_line_bytes_max, error_line_.size());
        error_line_.append(bytes.substr(0, std::min(end, room)));
        if (end == std::string_view::npos) {
            return;
        }
        listener_->on_error_line(std::exchange(error_line_, {}));
        bytes.remove_prefix(end + 1);
    }
}

void Job::note_exit(Moment now) {
    stage_ = Stage::Exited;
    child_.input.close();
    deadline_ = now + limits_.grace;
}

void Job::expire(Moment now) {
    switch (stage_) {
        case Stage::Running:
            outcome_.is_timed_out = !has_hung_up_;
            terminate(now);
            return;
        case Stage::Terminating:
            signal_group(SIGKILL);
            stage_ = Stage::Killed;
            deadline_.reset();
            return;
        case Stage::Killed: return;
        case Stage::Exited:
            child_.output.close();
            child_.errors.close();
            return;
    }
}

void Job::cancel(Moment now) {
    if (stage_ == Stage::Running) {
        outcome_.is_cancelled = true;
        terminate(now);
    }
}

void Job::terminate(Moment now) {
    signal_group(SIGTERM);
    stage_ = Stage::Terminating;
    deadline_ = now + limits_.grace;
}

void Job::signal_group(int signal) const {
    ::kill(-child_.pid, signal);
}

void Job::finish() {
    signal_group(SIGKILL);
    auto info = siginfo_t{};
    auto waited = 0;
    do {
        waited = ::waitid(P_PIDFD, static_cast<id_t>(child_.exit.raw()), &info, WEXITED);
    } while (waited != 0 && errno == EINTR);

    if (waited != 0) {
        outcome_.failure = Error{Errc::Internal, fmt::format("cannot wait for process {}: {}",
                                                             child_.pid, std::strerror(errno))};
    } else if (info.si_code == CLD_EXITED) {
        outcome_.exit_code = info.si_status;
    } else {
        outcome_.signal = info.si_status;
    }
    if (confinement_) {
        outcome_.exceeded = outcome_.signal == SIGXCPU        ? Exceeded::CpuTime
                            : confinement_->was_memory_full() ? Exceeded::Memory
                                                              : Exceeded::Nothing;
        confinement_.reset();
    }
    keep_end(outcome_.errors, limits_.errors_bytes_max);
    done_(std::move(outcome_));
}

void Job::fail_with(Error error) {
    outcome_.failure = std::move(error);
    if (child_.exit.is_open()) {
        finish();
    } else {
        done_(std::move(outcome_));
    }
}

void Job::report_cancelled() {
    outcome_.is_cancelled = true;
    done_(std::move(outcome_));
}

} // namespace sluice::reactor::internal

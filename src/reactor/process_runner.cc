#include "reactor/process_runner.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "reactor/file_descriptor.h"
#include "reactor/internal/job.h"
#include "reactor/thread.h"

namespace sluice::reactor {
namespace {

using internal::Job;
using Moment = Job::Moment;

/// What an epoll event is about; the low two bits beside the process id.
enum class Channel : std::uint8_t { Exit, Input, Output, Errors };

constexpr auto wake_tag = ~std::uint64_t{0};

std::uint64_t tag_of(ProcessId id, Channel channel) {
    return id.raw() << 2U | static_cast<std::uint64_t>(channel);
}

struct Cancel {};
struct HangUp {};

/// A command to start, what is said to one, or its end.
struct Request {
    ProcessId id;
    std::variant<Job, std::string, HangUp, Cancel> what;
};

Moment now() {
    return std::chrono::steady_clock::now();
}

bool watch(const FileDescriptor& poll, const FileDescriptor& descriptor, std::uint32_t events,
           std::uint64_t tag) {
    auto event = epoll_event{.events = events, .data = {.u64 = tag}};
    return ::epoll_ctl(poll.raw(), EPOLL_CTL_ADD, descriptor.raw(), &event) == 0;
}

} // namespace

/// The thread: waits for pipes, exits, deadlines and requests, and hands each to its job.
class ProcessRunner::Loop {
public:
    Loop(FileDescriptor poll, FileDescriptor wake, CommandLimits limits)
        : poll_(std::move(poll)), wake_(std::move(wake)), limits_(limits) {
        thread_ = start_thread("processes", [this](std::stop_token stop) { run(stop); });
    }

    ~Loop() {
        thread_.request_stop();
        wake_up();
        thread_.join();
    }

    void post(Request request) {
        auto lock = std::unique_lock{mutex_};
        requests_.push_back(std::move(request));
        auto is_first = requests_.size() == 1;
        lock.unlock();
        if (is_first) {
            wake_up();
        }
    }

    const CommandLimits& limits() const { return limits_; }

private:
    void run(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            auto events = std::array<epoll_event, 64>{};
            auto count = ::epoll_wait(poll_.raw(), events.data(), events.size(), wait_millis());
            for (const auto& event : std::span{events}.first(std::max(count, 0))) {
                handle(event.data.u64);
            }
            expire();
        }
        take_requests(stop);
        for (auto& [id, job] : std::exchange(jobs_, {})) {
            job.cancel(now());
            job.finish();
        }
        // What the last outcomes made their receivers start.
        take_requests(stop);
    }

    void handle(std::uint64_t tag) {
        if (tag == wake_tag) {
            auto count = eventfd_t{};
            ::eventfd_read(wake_.raw(), &count);
            take_requests({});
            return;
        }
        auto found = jobs_.find(ProcessId{tag >> 2U});
        if (found != jobs_.end()) {
            update(found, [&](Job& job) { advance(job, static_cast<Channel>(tag & 3U)); });
        }
    }

    static void advance(Job& job, Channel channel) {
        switch (channel) {
            case Channel::Exit: return job.note_exit(now());
            case Channel::Input: return job.feed_input();
            case Channel::Output: return job.read_output();
            case Channel::Errors: return job.read_errors();
        }
    }

    void take_requests(const std::stop_token& stop) {
        auto lock = std::unique_lock{mutex_};
        auto requests = std::exchange(requests_, {});
        lock.unlock();
        for (auto& request : requests) {
            auto* job = std::get_if<Job>(&request.what);
            if (job == nullptr) {
                take(std::move(request));
            } else if (stop.stop_requested()) {
                job->report_cancelled();
            } else {
                start(request.id, std::move(*job));
            }
        }
    }

    void start(ProcessId id, Job job) {
        auto started = job.start(now());
        if (!started) {
            job.fail_with(std::move(started).error());
            return;
        }
        if (!watch_all(id, job.child())) {
            job.fail_with({Errc::Unavailable,
                           fmt::format("cannot watch a process: {}", std::strerror(errno))});
            return;
        }
        auto place = jobs_.emplace(id, std::move(job)).first;
        update(place, [](Job& added) { added.feed_input(); }, std::nullopt);
    }

    void take(Request request) {
        auto found = jobs_.find(request.id);
        if (found == jobs_.end()) {
            return;
        }
        update(found, [&](Job& job) {
            if (auto* bytes = std::get_if<std::string>(&request.what)) {
                job.say(*bytes);
            } else if (std::holds_alternative<HangUp>(request.what)) {
                job.hang_up(now());
            } else {
                job.cancel(now());
            }
        });
    }

    void expire() {
        auto moment = now();
        while (!deadlines_.empty() && deadlines_.begin()->first <= moment) {
            update(jobs_.find(deadlines_.begin()->second), [&](Job& job) { job.expire(moment); });
        }
    }

    using Jobs = std::map<ProcessId, Job>;

    template <typename Change>
    void update(Jobs::iterator place, Change change) {
        update(place, std::move(change), place->second.deadline());
    }

    /// Changes a job, keeps its place among the deadlines, and lets go of it when it is over.
    template <typename Change>
    void update(Jobs::iterator place, Change change, std::optional<Moment> before) {
        auto& [id, job] = *place;
        change(job);
        if (before) {
            deadlines_.erase({*before, id});
        }
        if (job.is_over()) {
            jobs_.extract(place).mapped().finish();
        } else if (job.deadline()) {
            deadlines_.emplace(*job.deadline(), id);
        }
    }

    int wait_millis() const {
        if (deadlines_.empty()) {
            return -1;
        }
        auto left = std::chrono::ceil<std::chrono::milliseconds>(deadlines_.begin()->first - now());
        return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
    }

    bool watch_all(ProcessId id, const internal::Child& child) const {
        // A zombie stays readable until it is waited for: once is enough.
        return watch(poll_, child.exit, EPOLLIN | EPOLLONESHOT, tag_of(id, Channel::Exit)) &&
               // By edges: a pipe that nobody has bytes for is always writable.
               watch(poll_, child.input, EPOLLOUT | EPOLLET, tag_of(id, Channel::Input)) &&
               watch(poll_, child.output, EPOLLIN, tag_of(id, Channel::Output)) &&
               watch(poll_, child.errors, EPOLLIN, tag_of(id, Channel::Errors));
    }

    void wake_up() const { ::eventfd_write(wake_.raw(), 1); }

    FileDescriptor poll_;
    FileDescriptor wake_;
    const CommandLimits limits_;
    Jobs jobs_;
    std::set<std::pair<Moment, ProcessId>> deadlines_;
    std::mutex mutex_;
    std::vector<Request> requests_;
    std::jthread thread_;
};

Result<std::unique_ptr<ProcessRunner>> ProcessRunner::create(CommandLimits limits) {
    auto poll = FileDescriptor{::epoll_create1(EPOLL_CLOEXEC)};
    auto wake = FileDescriptor{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    if (!poll.is_open() || !wake.is_open() || !watch(poll, wake, EPOLLIN, wake_tag)) {
        return fail(Errc::Unavailable, "cannot watch processes: {}", std::strerror(errno));
    }
    return std::unique_ptr<ProcessRunner>{
        new ProcessRunner{std::make_unique<Loop>(std::move(poll), std::move(wake), limits)}};
}

ProcessRunner::ProcessRunner(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}

ProcessRunner::~ProcessRunner() = default;

ProcessId ProcessRunner::start(Command command, Done done) {
    auto id = ProcessId{++last_id_};
    loop_->post({id, Job{std::move(command), loop_->limits(), std::move(done)}});
    return id;
}

ProcessId ProcessRunner::converse(Command command, Listener listener, Done done) {
    auto id = ProcessId{++last_id_};
    auto job = Job{std::move(command), loop_->limits(), std::move(done)};
    job.listen(std::move(listener));
    loop_->post({id, std::move(job)});
    return id;
}

void ProcessRunner::say(ProcessId id, std::string bytes) {
    loop_->post({id, std::move(bytes)});
}

void ProcessRunner::hang_up(ProcessId id) {
    loop_->post({id, HangUp{}});
}

void ProcessRunner::cancel(ProcessId id) {
    loop_->post({id, Cancel{}});
}

} // namespace sluice::reactor

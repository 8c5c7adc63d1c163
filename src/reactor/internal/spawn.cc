#include "reactor/internal/spawn.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::reactor::internal {
namespace {

struct Pipe {
    FileDescriptor read;
    FileDescriptor write;
};

/// Descriptors below 3 would be overwritten while the child's own are put in place.
Result<FileDescriptor> above_standard(FileDescriptor descriptor) {
    if (descriptor.raw() > STDERR_FILENO) {
        return descriptor;
    }
    auto moved = FileDescriptor{::fcntl(descriptor.raw(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
    if (!moved.is_open()) {
        return fail(Errc::Unavailable, "cannot duplicate a pipe: {}", std::strerror(errno));
    }
    return moved;
}

Result<Pipe> open_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        return fail(Errc::Unavailable, "cannot create a pipe: {}", std::strerror(errno));
    }
    auto read = FileDescriptor{ends[0]};
    auto write = FileDescriptor{ends[1]};
    read = TRY(above_standard(std::move(read)));
    write = TRY(above_standard(std::move(write)));
    return Pipe{std::move(read), std::move(write)};
}

/// What posix_spawn is told: descriptors, directory, process group and signals.
class Setup {
public:
    Setup() {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawnattr_init(&attributes_);
    }
    ~Setup() {
        ::posix_spawn_file_actions_destroy(&actions_);
        ::posix_spawnattr_destroy(&attributes_);
    }
    Setup(const Setup&) = delete;
    Setup& operator=(const Setup&) = delete;

    void give_descriptors(int input, int output, int errors) {
        ::posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
        ::posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
        ::posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
        ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    }

    void change_directory(const std::string& directory) {
        if (!directory.empty()) {
            ::posix_spawn_file_actions_addchdir_np(&actions_, directory.c_str());
        }
    }

    void lead_group_with_default_signals() {
        auto none = sigset_t{};
        auto all = sigset_t{};
        ::sigemptyset(&none);
        ::sigfillset(&all);
        ::posix_spawnattr_setpgroup(&attributes_, 0);
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        ::posix_spawnattr_setsigdefault(&attributes_, &all);
        ::posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    }

    const posix_spawn_file_actions_t* actions() const { return &actions_; }
    const posix_spawnattr_t* attributes() const { return &attributes_; }

private:
    posix_spawn_file_actions_t actions_{};
    posix_spawnattr_t attributes_{};
};

std::vector<std::string> environment_of(const Command& command) {
    auto variables = std::vector<std::string>{};
    for (auto entry = environ; *entry != nullptr; entry++) {
        auto variable = std::string_view{*entry};
        auto name = variable.substr(0, variable.find('='));
        if (std::ranges::none_of(command.environment,
                                 [&](const auto& added) { return added.first == name; })) {
            variables.emplace_back(variable);
        }
    }
    for (const auto& [name, value] : command.environment) {
        variables.push_back(name + "=" + value);
    }
    return variables;
}

/// As exec wants them; the pointers are good as long as the texts.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    auto pointers = std::vector<char*>{};
    for (auto& text : texts) {
        pointers.push_back(text.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

std::unexpected<Error> explain(const Command& command, int error) {
    auto ignored = std::error_code{};
    const auto& directory = command.directory;
    if (!directory.empty() && !std::filesystem::is_directory(directory, ignored)) {
        return fail(Errc::NotFound, "cannot start '{}': '{}' is not a directory", command.argv[0],
                    directory);
    }
    if (error == ENOENT) {
        return fail(Errc::NotFound, "cannot start '{}': no such program", command.argv[0]);
    }
    auto code = error == EACCES || error == ENOEXEC ? Errc::InvalidInput : Errc::Unavailable;
    return fail(code, "cannot start '{}': {}", command.argv[0], std::strerror(error));
}

Result<pid_t> start(const Command& command, const Setup& setup) {
    auto arguments = command.argv;
    auto variables = environment_of(command);
    auto pid = pid_t{0};
    auto error = ::posix_spawnp(&pid, arguments[0].c_str(), setup.actions(), setup.attributes(),
                                pointers_to(arguments).data(), pointers_to(variables).data());
    if (error != 0) {
        return explain(command, error);
    }
    return pid;
}

void set_nonblocking(const FileDescriptor& descriptor) {
    ::fcntl(descriptor.raw(), F_SETFL, ::fcntl(descriptor.raw(), F_GETFL) | O_NONBLOCK);
}

/// Without a pidfd the child could not be watched, so it does not live on.
Result<FileDescriptor> watch(pid_t pid) {
    // The C library's header of pidfd_open cannot be linked from C++ in every version.
    auto descriptor = FileDescriptor{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))};
    if (descriptor.is_open()) {
        return descriptor;
    }
    auto error = errno;
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return fail(Errc::Unavailable, "cannot watch process {}: {}", pid, std::strerror(error));
}

} // namespace

Result<Child> spawn(const Command& command) {
    if (command.argv.empty() || command.argv[0].empty()) {
        return fail(Errc::InvalidInput, "cannot start a command without a program");
    }
    auto input = TRY(open_pipe());
    auto output = TRY(open_pipe());
    auto errors = TRY(open_pipe());

    auto setup = Setup{};
    setup.give_descriptors(input.read.raw(), output.write.raw(), errors.write.raw());
    setup.change_directory(command.directory);
    setup.lead_group_with_default_signals();
    auto pid = TRY(start(command, setup));

    auto exit = TRY(watch(pid));
    set_nonblocking(input.write);
    set_nonblocking(output.read);
    set_nonblocking(errors.read);
    return Child{pid, std::move(exit), std::move(input.write), std::move(output.read),
                 std::move(errors.read)};
}

} // namespace sluice::reactor::internal

#include "connector/nats/testing/nats_server.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::connector::nats::testing {

namespace {

constexpr auto ready_time_max = std::chrono::seconds{20};

std::string program() {
    for (const auto* folder : {"/usr/sbin", "/usr/bin", "/usr/local/bin"}) {
        auto path = std::string{folder} + "/nats-server";
        if (::access(path.c_str(), X_OK) == 0) {
            return path;
        }
    }
    return {};
}

sockaddr_in loopback(std::uint16_t port) {
    auto address = sockaddr_in{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/// Below those that the kernel gives to outgoing connections: nobody takes it while we are down.
std::uint16_t free_port() {
    auto device = std::random_device{};
    while (true) {
        auto port = static_cast<std::uint16_t>(15'000 + device() % 15'000);
        auto socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        auto address = loopback(port);
        auto is_free =
            ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
        ::close(socket);
        if (is_free) {
            return port;
        }
    }
}

/// What it greets with, or nothing.
std::string greeting(std::uint16_t port) {
    auto socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto address = loopback(port);
    auto text = std::string(4096, '\0');
    auto size = ::ssize_t{0};
    if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
        auto waiting = ::pollfd{.fd = socket, .events = POLLIN, .revents = 0};
        size = ::poll(&waiting, 1, 1000) > 0 ? ::read(socket, text.data(), text.size()) : 0;
    }
    ::close(socket);
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
}

} // namespace

bool NatsServer::is_installed() {
    return !program().empty();
}

Result<std::unique_ptr<NatsServer>> NatsServer::start(const Settings& settings) {
    auto server = std::unique_ptr<NatsServer>{new NatsServer};
    auto pattern = (std::filesystem::temp_directory_path() / "nats-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
        return fail(Errc::Io, "no temporary folder could be made");
    }
    server->folder_ = pattern;
    server->port_ = free_port();
    server->settings_ = settings;
    TRY(server->spawn());
    return server;
}

NatsServer::~NatsServer() {
    kill();
    auto ignored = std::error_code{};
    std::filesystem::remove_all(folder_, ignored);
}

void NatsServer::kill() {
    if (process_ > 0) {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
        process_ = -1;
    }
}

void NatsServer::pause() {
    ::kill(process_, SIGSTOP);
    // Until every thread of it stands still.
    ::waitpid(process_, nullptr, WUNTRACED);
}

void NatsServer::go_on() {
    ::kill(process_, SIGCONT);
}

Result<void> NatsServer::start_again() {
    return spawn();
}

std::string NatsServer::address() const {
    return fmt::format("127.0.0.1:{}", port_);
}

Options NatsServer::options() const {
    return {.servers = {address()}};
}

Result<void> NatsServer::spawn() {
    auto path = program();
    auto words = std::vector<std::string>{
        path, "-a", "127.0.0.1", "-p", fmt::format("{}", port_), "-l", (folder_ / "log").string()};
    if (settings_.has_streams) {
        words.insert(words.end(), {"-js", "-sd", (folder_ / "data").string()});
    }
    if (!settings_.configuration.empty()) {
        std::ofstream{folder_ / "configuration"} << settings_.configuration;
        words.insert(words.end(), {"-c", (folder_ / "configuration").string()});
    }
    words.insert(words.end(), settings_.arguments.begin(), settings_.arguments.end());
    auto arguments = std::vector<char*>{};
    for (auto& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    process_ = ::fork();
    if (process_ == 0) {
        // It does not outlive the test, however that ends.
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::execv(path.c_str(), arguments.data());
        ::_exit(127);
    }
    return wait_until_ready();
}

Result<void> NatsServer::wait_until_ready() const {
    auto until = std::chrono::steady_clock::now() + ready_time_max;
    while (std::chrono::steady_clock::now() < until) {
        if (greeting(port_).contains(settings_.has_streams ? R"("jetstream":true)" : "INFO ")) {
            return {};
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return fail(Errc::Unavailable, "nats-server did not start on port {}", port_);
}

} // namespace sluice::connector::nats::testing

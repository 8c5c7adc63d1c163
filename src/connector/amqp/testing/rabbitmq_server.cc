#include "connector/amqp/testing/rabbitmq_server.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sluice::connector::amqp::testing {

namespace {

// The one in /usr/sbin would change to the package's user, its folders and its cookie.
constexpr auto server_program = "/usr/lib/rabbitmq/bin/rabbitmq-server";
constexpr auto epmd_program = "/usr/bin/epmd";
constexpr auto openssl_program = "/usr/bin/openssl";
constexpr auto start_wait = std::chrono::seconds{90};

sockaddr_in address_of(std::uint16_t port) {
    auto address = sockaddr_in{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/// Below what the kernel gives to outgoing connections: nobody takes it while the server is down.
std::uint16_t free_port() {
    auto random = std::random_device{};
    while (true) {
        auto port = static_cast<std::uint16_t>(20000 + random() % 12000);
        auto socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        auto address = address_of(port);
        auto is_free =
            ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
        ::close(socket);
        if (is_free) {
            return port;
        }
    }
}

void make_certificate(const std::string& folder) {
    auto process = ChildProcess{};
    process.start(
        {.command = {openssl_program, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                     "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout",
                     folder + "/key.pem", "-out", folder + "/certificate.pem"},
         .environment = {},
         .output = folder + "/openssl.log"});
    auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{30};
    while (process.is_running() && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
}

} // namespace

std::string RabbitmqServer::missing() {
    for (const auto* program : {server_program, epmd_program, openssl_program}) {
        if (::access(program, X_OK) != 0) {
            return fmt::format("no {} here: apt-get install rabbitmq-server openssl", program);
        }
    }
    return {};
}

RabbitmqServer::RabbitmqServer()
    : port_(free_port()),
      tls_port_(free_port()),
      stream_port_(free_port()),
      stream_tls_port_(free_port()),
      distribution_port_(free_port()),
      epmd_port_(free_port()) {
    auto pattern = (std::filesystem::temp_directory_path() / "sluice-rabbitmq-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    make_certificate(folder_);
    write_settings();
}

RabbitmqServer::~RabbitmqServer() {
    server_.end(SIGKILL);
    epmd_.end(SIGKILL);
    auto error = std::error_code{};
    std::filesystem::remove_all(folder_, error);
}

void RabbitmqServer::write_settings() const {
    auto write = [&](const std::string& name, const std::string& text) {
        std::ofstream{folder_ + "/" + name} << text;
    };
    write(".erlang.cookie", "sluicetestsluicetest");
    std::filesystem::permissions(folder_ + "/.erlang.cookie", std::filesystem::perms::owner_read);
    write("enabled_plugins", "[rabbitmq_stream].\n");
    write("env.conf", "");
    write("rabbitmq.conf", fmt::format("listeners.tcp.1 = 127.0.0.1:{}\n"
                                       "listeners.ssl.1 = 127.0.0.1:{}\n"
                                       "ssl_options.cacertfile = {}/certificate.pem\n"
                                       "ssl_options.certfile = {}/certificate.pem\n"
                                       "ssl_options.keyfile = {}/key.pem\n"
                                       "stream.listeners.tcp.1 = 127.0.0.1:{}\n"
                                       "stream.listeners.ssl.1 = 127.0.0.1:{}\n"
                                       "stream.advertised_host = localhost\n"
                                       "stream.advertised_port = {}\n"
                                       "stream.advertised_tls_port = {}\n"
                                       "default_user = sluice\n"
                                       "default_pass = open sesame\n"
                                       "loopback_users = none\n"
                                       "log.console = true\n"
                                       "log.console.level = info\n"
                                       "log.file = false\n",
                                       port_, tls_port_, folder_, folder_, folder_, stream_port_,
                                       stream_tls_port_, stream_port_, stream_tls_port_));
}

std::string RabbitmqServer::start() {
    auto output = folder_ + "/output.log";
    if (!epmd_.is_running()) {
        epmd_.start({.command = {epmd_program, "-port", std::to_string(epmd_port_), "-address",
                                 "127.0.0.1"},
                     .environment = {},
                     .output = output});
    }
    auto environment = std::vector<std::string>{
        fmt::format("HOME={}", folder_),
        fmt::format("RABBITMQ_NODENAME=sluice-{}@localhost", port_),
        fmt::format("RABBITMQ_DIST_PORT={}", distribution_port_),
        fmt::format("ERL_EPMD_PORT={}", epmd_port_), "ERL_EPMD_ADDRESS=127.0.0.1",
        "RABBITMQ_LOGS=-",
        // The script then becomes the server rather than its parent, and signals reach it.
        "RUNNING_UNDER_SYSTEMD=1",
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-kernel inet_dist_use_interface {127,0,0,1} "
        "-start_epmd false"};
    constexpr auto places =
        std::array<std::array<const char*, 2>, 8>{{{"MNESIA_BASE", "mnesia"},
                                                   {"LOG_BASE", "log"},
                                                   {"CONFIG_FILE", "rabbitmq.conf"},
                                                   {"PID_FILE", "pid"},
                                                   {"ENABLED_PLUGINS_FILE", "enabled_plugins"},
                                                   {"CONF_ENV_FILE", "env.conf"},
                                                   {"GENERATED_CONFIG_DIR", "generated"},
                                                   {"ADVANCED_CONFIG_FILE", "advanced.config"}}};
    for (const auto& [name, place] : places) {
        environment.push_back(fmt::format("RABBITMQ_{}={}/{}", name, folder_, place));
    }
    server_.start({.command = {server_program}, .environment = environment, .output = output});
    auto deadline = std::chrono::steady_clock::now() + start_wait;
    while (!answers()) {
        if (!server_.is_running() || std::chrono::steady_clock::now() > deadline) {
            return "RabbitMQ does not answer; it told last: " + log_end();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
    }
    return {};
}

void RabbitmqServer::stop() {
    server_.end(SIGTERM);
}

void RabbitmqServer::kill() {
    server_.end(SIGKILL);
}

void RabbitmqServer::pause() const {
    server_.send(SIGSTOP);
}

void RabbitmqServer::resume() const {
    server_.send(SIGCONT);
}

/// Its first frame is a method on channel 0.
bool RabbitmqServer::answers() const {
    auto socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto wait = timeval{.tv_sec = 5, .tv_usec = 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    auto address = address_of(port_);
    auto reply = std::array<char, 3>{};
    auto does_answer =
        ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
        ::send(socket, "AMQP\0\0\x09\x01", 8, MSG_NOSIGNAL) == 8 &&
        ::recv(socket, reply.data(), reply.size(), MSG_WAITALL) == 3 &&
        reply == std::array<char, 3>{1, 0, 0};
    ::close(socket);
    return does_answer;
}

std::string RabbitmqServer::log_end() const {
    auto file = std::ifstream{folder_ + "/output.log"};
    auto text = std::string{std::istreambuf_iterator<char>{file}, {}};
    constexpr auto shown = std::size_t{2000};
    return text.size() > shown ? text.substr(text.size() - shown) : text;
}

Options RabbitmqServer::options() const {
    auto options = Options{};
    options.port = port_;
    options.stream_port = stream_port_;
    options.user = "sluice";
    options.password = "open sesame";
    return options;
}

Options RabbitmqServer::tls_options() const {
    auto options = this->options();
    options.host = "localhost";
    options.port = tls_port_;
    options.stream_port = stream_tls_port_;
    options.tls = {.is_on = true, .ca_file = folder_ + "/certificate.pem"};
    return options;
}

std::string RabbitmqServer::url() const {
    return fmt::format("amqp://sluice:open%20sesame@127.0.0.1:{}/?stream_port={}", port_,
                       stream_port_);
}

Result<RabbitmqServer*> shared_server() {
    static auto server = std::unique_ptr<RabbitmqServer>{};
    if (server == nullptr) {
        if (auto reason = RabbitmqServer::missing(); !reason.empty()) {
            return fail(Errc::NotFound, "{}", reason);
        }
        auto started = std::make_unique<RabbitmqServer>();
        if (auto trouble = started->start(); !trouble.empty()) {
            return fail(Errc::Unavailable, "{}", trouble);
        }
        server = std::move(started);
    }
    return server.get();
}

} // namespace sluice::connector::amqp::testing

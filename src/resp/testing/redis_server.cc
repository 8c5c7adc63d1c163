#include "resp/testing/redis_server.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "reactor/file_descriptor.h"
#include "resp/client.h"

namespace sluice::resp::testing {
namespace {

bool make_certificates(const std::filesystem::path& folder) {
    auto command = fmt::format(
        "cd '{}' && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "
        "-keyout key.pem -out cert.pem -days 2 -subj /CN=localhost "
        "-addext subjectAltName=DNS:localhost,IP:127.0.0.1 >/dev/null 2>&1",
        folder.string());
    return std::system(command.c_str()) == 0; // NOLINT: a test's own folder.
}

void push_all(std::vector<std::string>& list, std::initializer_list<std::string> more) {
    list.insert(list.end(), more);
}

} // namespace

std::string redis_server_path() {
    for (const auto* folder : {"/usr/bin", "/usr/local/bin", "/bin"}) {
        auto path = std::filesystem::path{folder} / "redis-server";
        if (::access(path.c_str(), X_OK) == 0) {
            return path;
        }
    }
    return {};
}

bool is_redis_installed() {
    return !redis_server_path().empty();
}

std::uint16_t free_port() {
    auto seed =
        static_cast<std::uint64_t>(::getpid()) ^
        static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    auto random = Random{seed};
    for (auto attempt = 0; attempt < 200; ++attempt) {
        auto port = static_cast<std::uint16_t>(20000 + random.below(12000));
        auto socket = reactor::FileDescriptor{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        auto address = sockaddr_in{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::bind(socket.raw(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) ==
            0) {
            return port;
        }
    }
    return 0;
}

std::unique_ptr<RedisServer> RedisServer::start(Settings settings) {
    auto server = std::unique_ptr<RedisServer>{new RedisServer};
    server->settings_ = std::move(settings);
    auto pattern = (std::filesystem::temp_directory_path() / "sluice-redis-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
        return nullptr;
    }
    server->folder_ = pattern;
    server->port_ = free_port();
    if (server->settings_.tls == Secured::Yes && !make_certificates(server->folder_)) {
        return nullptr;
    }
    return server->launch() ? std::move(server) : nullptr;
}

RedisServer::~RedisServer() {
    kill();
    auto ignored = std::error_code{};
    std::filesystem::remove_all(folder_, ignored);
}

bool RedisServer::launch() {
    auto words = std::vector<std::string>{redis_server_path()};
    auto port = std::to_string(port_);
    push_all(words, {"--bind", "127.0.0.1", "--dir", folder_.string(), "--save", "", "--appendonly",
                     "yes", "--appendfsync", "always", "--logfile", (folder_ / "log").string(),
                     "--unixsocket", (folder_ / "redis.sock").string()});
    if (settings_.tls == Secured::Yes) {
        push_all(words, {"--port", "0", "--tls-port", port, "--tls-cert-file",
                         (folder_ / "cert.pem").string(), "--tls-key-file",
                         (folder_ / "key.pem").string(), "--tls-ca-cert-file",
                         (folder_ / "cert.pem").string(), "--tls-auth-clients", "optional"});
    } else {
        push_all(words, {"--port", port});
    }
    if (!settings_.password.empty()) {
        push_all(words, {"--requirepass", settings_.password});
    }
    words.insert(words.end(), settings_.arguments.begin(), settings_.arguments.end());

    auto pointers = std::vector<char*>{};
    for (auto& word : words) {
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    auto parent = ::getpid();
    process_ = ::fork();
    if (process_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) {
            ::_exit(1);
        }
        auto nowhere = ::open("/dev/null", O_RDWR); // NOLINT: between fork and exec.
        ::dup2(nowhere, 0);
        ::dup2(nowhere, 1);
        ::execv(pointers[0], pointers.data());
        ::_exit(127);
    }
    return process_ > 0 && wait_until_ready();
}

bool RedisServer::wait_until_ready() const {
    auto limit = std::chrono::steady_clock::now() + std::chrono::seconds{30};
    while (std::chrono::steady_clock::now() < limit) {
        auto client = Client::connect(options());
        if (client) {
            auto pong = client->call("PING");
            if (pong) {
                return true;
            }
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return false;
}

Options RedisServer::options() const {
    auto options = Options{.port = port_, .password = settings_.password};
    if (settings_.tls == Secured::Yes) {
        options.tls = {.encryption = Encryption::Verified,
                       .ca_file = (folder_ / "cert.pem").string()};
    }
    return options;
}

std::string RedisServer::url(const std::string& path, const std::string& query) const {
    auto is_secured = settings_.tls == Secured::Yes;
    auto login = settings_.password.empty() ? "" : fmt::format("default:{}@", settings_.password);
    auto trust = is_secured ? fmt::format("ca={}&", (folder_ / "cert.pem").string()) : "";
    return fmt::format("redis{}://{}127.0.0.1:{}/{}?{}{}", is_secured ? "s" : "", login, port_,
                       path, trust, query);
}

void RedisServer::kill() {
    if (process_ > 0) {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
        process_ = -1;
    }
}

void RedisServer::pause() const {
    ::kill(process_, SIGSTOP);
    // Until every thread of it stands still.
    ::waitpid(process_, nullptr, WUNTRACED);
}

void RedisServer::resume() const {
    ::kill(process_, SIGCONT);
}

bool RedisServer::restart() {
    kill();
    return launch();
}

} // namespace sluice::resp::testing

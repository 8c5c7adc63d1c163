#include "store/postgres/testing/postgres_server.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <system_error>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace sluice::store::postgres::testing {
namespace {

constexpr auto start_limit = std::chrono::seconds{60};
constexpr auto look_again = std::chrono::milliseconds{20};

std::filesystem::path programs() {
    auto newest = std::filesystem::path{};
    auto ignored = std::error_code{};
    for (const auto& version :
         std::filesystem::directory_iterator{"/usr/lib/postgresql", ignored}) {
        auto folder = version.path() / "bin";
        if (std::filesystem::exists(folder / "initdb", ignored) && folder > newest) {
            newest = folder;
        }
    }
    return newest;
}

bool is_root() {
    return ::geteuid() == 0;
}

std::uint16_t free_port() {
    auto socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto address = sockaddr_in{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto size = socklen_t{sizeof(address)};
    ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address));
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    ::close(socket);
    return ntohs(address.sin_port);
}

/// Its output goes to the file.
pid_t spawn(const std::vector<std::string>& words, const std::filesystem::path& output) {
    auto arguments = std::vector<char*>{};
    for (const auto& word : words) {
        arguments.push_back(const_cast<char*>(word.c_str()));
    }
    arguments.push_back(nullptr);
    auto actions = posix_spawn_file_actions_t{};
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                       0644);
    ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
    auto process = pid_t{0};
    auto problem = ::posix_spawnp(&process, words.front().c_str(), &actions, nullptr,
                                  arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    return problem == 0 ? process : 0;
}

std::string text_of(const std::filesystem::path& path) {
    auto file = std::ifstream{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

std::vector<pid_t> children_of(pid_t parent) {
    auto children = std::vector<pid_t>{};
    auto ignored = std::error_code{};
    for (const auto& entry : std::filesystem::directory_iterator{"/proc", ignored}) {
        auto number = std::strtol(entry.path().filename().c_str(), nullptr, 10);
        auto stat = number > 0 ? text_of(entry.path() / "stat") : std::string{};
        auto name_end = stat.rfind(')');
        // Behind the name come a letter and the parent.
        if (name_end != std::string::npos &&
            std::strtol(stat.c_str() + name_end + 4, nullptr, 10) == parent) {
            children.push_back(static_cast<pid_t>(number));
        }
    }
    return children;
}

bool is_running(pid_t process) {
    return process != 0 && ::waitpid(process, nullptr, WNOHANG) == 0;
}

} // namespace

std::string PostgresServer::missing() {
    if (programs().empty()) {
        return "no /usr/lib/postgresql/*/bin/initdb here: apt-get install postgresql-15";
    }
    return is_root() && ::getpwnam("postgres") == nullptr ? "no user postgres to run it as" : "";
}

Result<std::unique_ptr<PostgresServer>> PostgresServer::create() {
    auto pattern = (std::filesystem::temp_directory_path() / "sluice_postgres_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
        return fail(Errc::Io, "no folder at {}", pattern);
    }
    auto server = std::unique_ptr<PostgresServer>{new PostgresServer{pattern, free_port()}};
    TRY(server->initialise());
    TRY(server->start());
    return server;
}

PostgresServer::PostgresServer(std::filesystem::path folder, std::uint16_t port)
    : folder_(std::move(folder)), port_(port) {}

PostgresServer::~PostgresServer() {
    kill();
    auto ignored = std::error_code{};
    std::filesystem::remove_all(folder_, ignored);
}

std::string PostgresServer::url(std::string_view schema, std::string_view parameters) const {
    return url_of("sluice", schema) + std::string{parameters};
}

std::string PostgresServer::url_of(std::string_view user, std::string_view schema) const {
    return fmt::format("postgres://{}:hidden@127.0.0.1:{}/postgres?schema={}", user, port_, schema);
}

Result<std::string> PostgresServer::ask(const std::string& sql) const {
    auto where = fmt::format(
        "host=127.0.0.1 port={} user=sluice dbname=postgres password=hidden "
        "connect_timeout=5",
        port_);
    auto* connection = PQconnectdb(where.c_str());
    auto* result = PQexec(connection, sql.c_str());
    auto status = PQresultStatus(result);
    auto answer = Result<std::string>{std::string{}};
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        answer = fail(Errc::Io, "{}: {}", sql, PQerrorMessage(connection));
    }
    for (auto row = 0; answer && row < PQntuples(result); ++row) {
        *answer += (row == 0 ? "" : " ") + std::string{PQgetvalue(result, row, 0)};
    }
    PQclear(result);
    PQfinish(connection);
    return answer;
}

Result<void> PostgresServer::initialise() {
    if (is_root()) {
        const auto* user = ::getpwnam("postgres");
        if (::chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0) {
            return fail(Errc::Io, "{} cannot be given to the user postgres", folder_.string());
        }
    }
    auto secret = folder_ / "password";
    std::ofstream{secret} << "hidden\n";
    std::filesystem::permissions(secret, std::filesystem::perms{0644});
    auto words = as_user({(programs() / "initdb").string(), "-D", (folder_ / "data").string(), "-U",
                          "sluice", "-E", "UTF8", "--locale=C", "--no-sync", "-A", "scram-sha-256",
                          "--pwfile", secret.string()});
    auto output = folder_.string() + ".log";
    auto process = spawn(words, output);
    auto status = 0;
    auto is_done = process != 0 && ::waitpid(process, &status, 0) == process && status == 0;
    auto said = text_of(output);
    std::filesystem::remove(output);
    return is_done ? Result<void>{} : fail(Errc::Io, "initdb failed: {}", said);
}

Result<void> PostgresServer::start(const std::vector<std::string>& settings) {
    auto words = std::vector<std::string>{(programs() / "postgres").string(),
                                          "-D",
                                          (folder_ / "data").string(),
                                          "-h",
                                          "127.0.0.1",
                                          "-p",
                                          std::to_string(port_),
                                          "-c",
                                          "unix_socket_directories="};
    for (const auto& setting : settings) {
        words.insert(words.end(), {"-c", setting});
    }
    auto output = folder_.string() + ".log";
    auto until = std::chrono::steady_clock::now() + start_limit;
    while (std::chrono::steady_clock::now() < until) {
        // After a kill, the old one's memory may still be held for a moment: then it starts again.
        if (!is_running(process_)) {
            process_ = spawn(as_user(words), output);
        }
        if (answers()) {
            std::filesystem::remove(output);
            return {};
        }
        std::this_thread::sleep_for(look_again);
    }
    auto said = text_of(output);
    std::filesystem::remove(output);
    return fail(Errc::Io, "the server does not start: {}", said);
}

void PostgresServer::kill() {
    if (process_ == 0) {
        return;
    }
    auto children = children_of(process_);
    ::kill(process_, SIGKILL);
    for (auto child : children) {
        ::kill(child, SIGKILL);
    }
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
}

void PostgresServer::stop() {
    if (process_ == 0) {
        return;
    }
    // Fast shutdown: SIGTERM would wait for the clients to leave.
    ::kill(process_, SIGINT);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
}

std::vector<std::string> PostgresServer::as_user(std::vector<std::string> words) const {
    auto all = std::vector<std::string>{"setpriv", "--pdeathsig", "QUIT"};
    if (is_root()) {
        all.insert(all.end(), {"--reuid", "postgres", "--regid", "postgres", "--clear-groups"});
    }
    all.insert(all.end(), words.begin(), words.end());
    return all;
}

bool PostgresServer::answers() const {
    return ask("SELECT 1").has_value();
}

} // namespace sluice::store::postgres::testing

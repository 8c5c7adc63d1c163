#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include "resp/options.h"

namespace sluice::resp::testing {

/// Where the program lies, or why there is none.
std::string redis_server_path();
bool is_redis_installed();
/// Below those that the kernel gives to outgoing connections, so that nobody takes it while the
/// server is down; 0: there is none.
std::uint16_t free_port();

enum class Secured : std::uint8_t { No, Yes };

struct Settings {
    std::vector<std::string> arguments{}; ///< Such as `--appendfsync`, `everysec`.
    std::string password{};
    Secured tls = Secured::No;
};

/// A real server on a free loopback port, in a folder of its own. It goes with the test, even when
/// that is killed; or with the thread that started it.
class RedisServer {
public:
    /// Every write synced unless the arguments say otherwise. Null, and the test fails, when it
    /// does not come up.
    static std::unique_ptr<RedisServer> start(Settings settings = {});
    ~RedisServer();

    Options options() const;
    /// `redis://127.0.0.1:PORT`, or `rediss://`, with the password and the certificate to trust:
    /// a path and more parameters may follow.
    std::string url(const std::string& path = "", const std::string& query = "") const;
    const std::filesystem::path& folder() const { return folder_; }
    std::uint16_t port() const { return port_; }

    /// As a power cut ends it, only that the kernel keeps what was written.
    void kill();
    void pause() const;
    void resume() const;
    /// Again on the same port, with the data that is there. Waits until it answers.
    bool restart();

private:
    RedisServer() = default;
    bool launch();
    bool wait_until_ready() const;

    Settings settings_;
    std::filesystem::path folder_;
    std::uint16_t port_ = 0;
    pid_t process_ = -1;
};

} // namespace sluice::resp::testing

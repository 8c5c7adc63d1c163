#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/result.h"
#include "connector/nats/options.h"

namespace sluice::connector::nats::testing {

/// A server of its own for a test, on a free port of this machine, in a folder that
/// goes with it.
class NatsServer {
public:
    struct Settings {
        std::vector<std::string> arguments{}; ///< Beside those that every server gets.
        std::string configuration{};          ///< What a file of it says; empty: none.
        bool has_streams = true;              ///< JetStream is on.
    };

    /// Whether the program is installed.
    static bool is_installed();
    /// Ready when it is returned.
    static Result<std::unique_ptr<NatsServer>> start() { return start(Settings{}); }
    static Result<std::unique_ptr<NatsServer>> start(const Settings& settings);
    ~NatsServer();
    NatsServer(const NatsServer&) = delete;
    NatsServer& operator=(const NatsServer&) = delete;

    /// Without warning; data and port stay.
    void kill();
    /// What was killed.
    Result<void> start_again();
    /// It lives, and says nothing.
    void pause();
    void go_on();

    /// `127.0.0.1:port`.
    std::string address() const;
    Options options() const;
    const std::filesystem::path& folder() const { return folder_; }

private:
    NatsServer() = default;
    Result<void> spawn();
    Result<void> wait_until_ready() const;

    std::filesystem::path folder_;
    std::uint16_t port_ = 0;
    Settings settings_;
    ::pid_t process_ = -1;
};

} // namespace sluice::connector::nats::testing

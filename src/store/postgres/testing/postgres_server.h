#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/result.h"

namespace sluice::store::postgres::testing {

/// A server of its own on a free port of this machine, in a folder that goes with it. Ends with the
/// program, whatever becomes of that.
class PostgresServer {
public:
    /// Why there is none to be had; empty when there is.
    static std::string missing();
    static Result<std::unique_ptr<PostgresServer>> create();
    ~PostgresServer();
    PostgresServer(const PostgresServer&) = delete;
    PostgresServer& operator=(const PostgresServer&) = delete;

    /// `parameters` such as `&timeout=500ms` go behind the schema.
    std::string url(std::string_view schema, std::string_view parameters = {}) const;
    /// As another role than the one the server was made by.
    std::string url_of(std::string_view user, std::string_view schema) const;
    std::uint16_t port() const { return port_; }
    /// Runs a statement, without the store, and gives the first column of its rows, separated by
    /// spaces.
    Result<std::string> ask(const std::string& sql) const;

    /// `settings` such as `fsync=off` hold until the next start.
    Result<void> start(const std::vector<std::string>& settings = {});
    /// Kills every process of the server at once.
    void kill();
    /// Ends it as an operator would; clients are thrown out.
    void stop();

private:
    PostgresServer(std::filesystem::path folder, std::uint16_t port);

    Result<void> initialise();
    std::vector<std::string> as_user(std::vector<std::string> words) const;
    bool answers() const;

    std::filesystem::path folder_;
    std::uint16_t port_;
    pid_t process_ = 0;
};

} // namespace sluice::store::postgres::testing

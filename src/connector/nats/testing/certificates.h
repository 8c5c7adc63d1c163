#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace sluice::connector::nats::testing {

/// An authority, and certificates of it: a server's for 127.0.0.1, one for another name, a
/// client's. In a folder that goes with them.
class Certificates {
public:
    Certificates();
    ~Certificates();
    Certificates(const Certificates&) = delete;
    Certificates& operator=(const Certificates&) = delete;

    /// Why TLS cannot be tried; empty: it can.
    static std::string missing();
    /// Such as `ca.pem`, `server.pem`, `server.key`.
    std::string path(std::string_view name) const { return (folder_ / name).string(); }

private:
    void run(const std::string& command) const;
    void make(std::string_view name, std::string_view alternative) const;

    std::filesystem::path folder_;
};

} // namespace sluice::connector::nats::testing

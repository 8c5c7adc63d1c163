#include "connector/nats/testing/certificates.h"

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "base/invariant.h"
#include "base/sanitizer.h"

namespace sluice::connector::nats::testing {

Certificates::Certificates() {
    auto pattern = (std::filesystem::temp_directory_path() / "nats-tls-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
        "-subj /CN=authority -keyout ca.key -out ca.pem");
    make("server", "IP:127.0.0.1");
    make("other", "DNS:elsewhere.example");
    make("client", "DNS:client");
}

Certificates::~Certificates() {
    std::filesystem::remove_all(folder_);
}

std::string Certificates::missing() {
#ifdef SLUICE_HAS_TSAN
    // Closing, it writes to OpenSSL's session while another of its threads may still do.
    return "libnats uses one TLS session from two threads";
#else
    return std::system("openssl version >/dev/null 2>&1") == 0 ? "" : "openssl is not installed";
#endif
}

void Certificates::run(const std::string& command) const {
    auto whole = fmt::format("cd {} && {} >/dev/null 2>&1", folder_.string(), command);
    INVARIANT(std::system(whole.c_str()) == 0, "openssl makes certificates");
}

void Certificates::make(std::string_view name, std::string_view alternative) const {
    std::ofstream{folder_ / fmt::format("{}.ext", name)}
        << fmt::format("subjectAltName={}\n", alternative);
    run(
        fmt::format("openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "
                    "/CN={0} -keyout {0}.key -out {0}.csr",
                    name));
    run(
        fmt::format("openssl x509 -req -in {0}.csr -CA ca.pem -CAkey ca.key -CAcreateserial "
                    "-days 2 -extfile {0}.ext -out {0}.pem",
                    name));
}

} // namespace sluice::connector::nats::testing

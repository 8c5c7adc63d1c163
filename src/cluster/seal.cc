#include "cluster/seal.h"

#include <array>

#include <sodium.h>

namespace sluice::cluster {

namespace {

using Mac = std::array<unsigned char, 16>;

Mac mac_of(std::string_view content, const engine::Secret& secret) {
    auto mac = Mac{};
    crypto_generichash(mac.data(), mac.size(),
                       reinterpret_cast<const unsigned char*>(content.data()), content.size(),
                       secret.data(), secret.size());
    return mac;
}

} // namespace

std::string Seal::put_on(std::string_view content) const {
    auto mac = mac_of(content, secret_);
    auto sealed = std::string{mac.begin(), mac.end()};
    sealed += content;
    return sealed;
}

Result<std::string_view> Seal::take_off(std::string_view sealed) const {
    auto mac = Mac{};
    if (sealed.size() < mac.size()) {
        return fail(Errc::InvalidInput, "it is too short to be of this system");
    }
    auto content = sealed.substr(mac.size());
    mac = mac_of(content, secret_);
    if (sodium_memcmp(mac.data(), sealed.data(), mac.size()) != 0) {
        return fail(Errc::InvalidInput, "it was not written by a process of this system");
    }
    return content;
}

} // namespace sluice::cluster

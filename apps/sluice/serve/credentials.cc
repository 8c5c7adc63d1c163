#include "sluice/serve/credentials.h"

#include <utility>

namespace sluice::app {

namespace {

constexpr auto secret_bytes_min = std::size_t{16};

} // namespace

Result<Credentials> credentials_of(const server::Configuration& wanted,
                                   const secret::Secrets& secrets) {
    auto configured = wanted.tokens;
    if (!wanted.token.empty()) {
        configured.push_back(
            {.info = {.name = "root", .role = server::Role::Admin}, .secret = wanted.token});
    }
    auto credentials = Credentials{};
    for (auto& token : configured) {
        if (!token.secret.empty()) {
            auto secret = TRY(secrets.expand(token.secret));
            if (secret.size() < secret_bytes_min) {
                return fail(Errc::InvalidInput,
                            "the secret of the token {} has less than {} bytes: make one with "
                            "`sluice token create`",
                            token.info.name, secret_bytes_min);
            }
            token.hash = server::TokenTable::hash_of(secret);
            credentials.keys.push_back({.info = token.info, .secret = std::move(secret)});
        }
        credentials.tokens.emplace_back(std::move(token.hash), std::move(token.info));
    }
    return credentials;
}

} // namespace sluice::app

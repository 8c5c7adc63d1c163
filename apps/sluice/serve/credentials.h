#pragma once

#include <vector>

#include "base/result.h"
#include "secret/secrets.h"
#include "server/access.h"
#include "server/access_keys.h"
#include "server/configuration.h"

namespace sluice::app {

/// What callers that the configuration names show that they are who they are.
struct Credentials {
    std::vector<server::TokenTable::Hashed> tokens;
    std::vector<server::AccessKeys::Key> keys; ///< Those of them whose secret is known.
};

/// Fails with InvalidInput for a secret that is short, and when one cannot be had.
Result<Credentials> credentials_of(const server::Configuration& wanted,
                                   const secret::Secrets& secrets);

} // namespace sluice::app

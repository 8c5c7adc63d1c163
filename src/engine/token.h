#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "engine/keys.h"
#include "store/store.h"

namespace sluice::engine {

/// One attempt of a task, among all there ever were: what an answer must name.
struct AttemptId {
    RunName run;
    Time started{}; ///< Of the run: an id may be used again after its run was removed.
    trigger::TaskKey key;
    std::uint32_t attempt = 1;
    trigger::Incarnation scope;

    bool operator==(const AttemptId&) const = default;
};

using Secret = std::array<unsigned char, 32>;

/// The store's own secret, made of the system's randomness when it is first asked for.
Result<Secret> load_secret(store::Store& store);

/// Makes and reads the tokens of attempts: docs/formats/token.md. Whoever has not been given a
/// token cannot make one.
///
/// May be used from any thread.
class Tokens {
public:
    explicit Tokens(const Secret& secret);

    std::string make(const AttemptId& attempt) const;
    /// Fails with InvalidInput when it was not made with this secret.
    Result<AttemptId> read(std::string_view token) const;

private:
    Secret secret_;
};

} // namespace sluice::engine

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/token.h"

namespace sluice::cluster {

/// Proves that something was written by a process that has the store's secret: a MAC goes before
/// it.
class Seal {
public:
    explicit Seal(const engine::Secret& secret) : secret_(secret) {}

    std::string put_on(std::string_view content) const;
    /// What is in it. Fails with InvalidInput when it was not sealed with this secret.
    Result<std::string_view> take_off(std::string_view sealed) const;

private:
    engine::Secret secret_;
};

} // namespace sluice::cluster

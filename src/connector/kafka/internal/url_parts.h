#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sluice::connector::kafka::internal {

/// A URL taken apart and decoded, its names not yet understood.
struct UrlParts {
    bool is_secure = false;
    std::string user{};
    std::string password{};
    std::vector<std::string> brokers{}; ///< Each with its port.
    std::string path{};                 ///< Without the slash.
    std::vector<std::pair<std::string, std::string>> query{};
};

/// Errors never show what stands before the `@`.
Result<UrlParts> split_url(std::string_view url);

} // namespace sluice::connector::kafka::internal

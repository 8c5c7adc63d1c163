#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "server/problem.h"

namespace sluice::server {

/// What a caller may do; each may all that stands before it.
enum class Role : std::uint8_t {
    Anyone,   ///< No token asked for.
    Reader,   ///< Looks.
    Operator, ///< Starts, sends, cancels, changes runs.
    Admin,    ///< Defines functions, tokens, namespaces.
};
std::string_view to_string(Role role);
std::optional<Role> role_named(std::string_view name);

/// Who asks.
struct Caller {
    std::string name = "anonymous";
    Role role = Role::Anyone;
    std::string space; ///< The only namespace it may touch; empty: all of them.
};

/// What a route asks of its callers.
struct Policy {
    Role least = Role::Admin;
    /// Whether it touches what belongs to a namespace, which the caller must then be allowed.
    bool is_namespaced = true;
};

/// What keeps this caller from it; nothing: go ahead.
std::optional<Problem> refusal_of(const Policy& policy, const Caller& caller,
                                  std::string_view space);

struct TokenInfo {
    std::string name;
    Role role = Role::Reader;
    std::string space; ///< Empty: all.
    Time created{};

    template <typename Archive>
    void fields(Archive& archive) {
        archive("name", name)("role", role)("space", space)("created", created);
    }
};

/// Tokens by the hash of their secret: the secret itself is shown once and kept nowhere.
///
/// A secret has 256 random bits, so a fast hash hides it as well as a slow one would.
class TokenTable {
public:
    /// The new token's secret.
    std::string add(TokenInfo info);
    void add_hashed(std::string hash, TokenInfo info);
    bool remove(std::string_view name);
    std::optional<Caller> find(std::string_view secret) const;
    std::vector<TokenInfo> list() const;
    bool is_empty() const;

    static std::string hash_of(std::string_view secret);

private:
    mutable std::mutex mutex_;
    std::map<std::string, TokenInfo, std::less<>> by_hash_;
};

} // namespace sluice::server

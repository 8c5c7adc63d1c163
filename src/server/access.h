#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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
    /// Whether a change through it goes to the audit; not where the history of runs holds it
    /// anyway.
    bool is_audited = true;
};

/// What keeps this caller from it; nothing: go ahead.
std::optional<Problem> refusal_of(const Policy& policy, const Caller& caller,
                                  std::string_view space);

struct TokenInfo {
    std::string name;
    Role role = Role::Reader;
    std::string space{}; ///< Empty: all.
    Time created{};
    std::optional<Time> expires{}; ///< From then on it is refused.

    /// It could make another of any kind.
    bool is_root() const { return role == Role::Admin && space.empty() && !expires; }
    bool operator==(const TokenInfo&) const = default;
};

enum class TokenFault : std::uint8_t { Unknown, Expired };

/// Tokens by the hash of their secret: the secret itself is shown once and kept nowhere.
///
/// A secret has 256 random bits, so a fast hash hides it as well as a slow one would.
class TokenTable {
public:
    using Hashed = std::pair<std::string, TokenInfo>;

    /// The clock outlives it.
    explicit TokenTable(const Clock& clock) : clock_(clock) {}

    /// The new token's secret.
    std::string add(TokenInfo info);
    void add_hashed(std::string hash, TokenInfo info);
    /// In place of those that were configured before.
    void set_configured(std::vector<Hashed> tokens);
    /// In place of those that are not configured.
    void set_stored(std::vector<Hashed> tokens);
    /// Not one that is configured.
    bool remove(std::string_view name);
    std::expected<Caller, TokenFault> find(std::string_view secret) const;
    std::vector<TokenInfo> list() const;
    bool is_empty() const { return count_.load(std::memory_order_relaxed) == 0; }

    static std::string make_secret();
    static std::string hash_of(std::string_view secret);

private:
    struct Entry {
        TokenInfo info;
        bool is_configured = false;
    };

    const Clock& clock_;
    mutable std::mutex mutex_;
    std::map<std::string, Entry, std::less<>> by_hash_;
    std::atomic<std::size_t> count_{0}; ///< Asked for with every request.
};

} // namespace sluice::server

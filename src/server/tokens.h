#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "server/access.h"
#include "server/documents.h"

namespace sluice::server {

/// Who may come in when there is no token at all.
enum class WithoutTokens : std::uint8_t { Everybody, Nobody };

/// Tokens that people made: kept as documents, without their secrets, and put into the table that
/// requests are held against.
///
/// Nobody locks everybody out: as long as there is a token, there is one that can make others.
class Tokens {
public:
    static constexpr std::string_view kind = "token";

    /// Both outlive it.
    Tokens(Documents& documents, TokenTable& table, WithoutTokens without_tokens)
        : documents_(documents), table_(table), without_tokens_(without_tokens) {}

    /// Puts what is kept into the table; anew after another process has changed it.
    Result<void> load();
    /// Its secret, which nobody can find out again. AlreadyExists for a name that is taken,
    /// Conflict when everybody would be locked out.
    Result<std::string> create(const TokenInfo& info);
    /// NotFound; Conflict when everybody would be locked out.
    Result<void> remove(std::string_view name);
    const TokenTable& table() const { return table_; }

private:
    Documents& documents_;
    TokenTable& table_;
    WithoutTokens without_tokens_;
    std::mutex mutex_; ///< Looking and changing are one.
};

} // namespace sluice::server

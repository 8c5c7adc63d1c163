#include "server/access.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <sodium.h>

namespace sluice::server {

namespace {

constexpr std::string_view secret_prefix = "slc_";

constexpr std::pair<std::string_view, Role> role_names[] = {{"anyone", Role::Anyone},
                                                            {"reader", Role::Reader},
                                                            {"operator", Role::Operator},
                                                            {"admin", Role::Admin}};

std::string hex(std::span<const unsigned char> bytes) {
    constexpr auto digits = std::string_view{"0123456789abcdef"};
    auto text = std::string{};
    text.reserve(bytes.size() * 2);
    for (auto byte : bytes) {
        text += digits[byte >> 4U];
        text += digits[byte & 0xFU];
    }
    return text;
}

} // namespace

std::string_view to_string(Role role) {
    return role_names[static_cast<std::size_t>(role)].first;
}

std::optional<Role> role_named(std::string_view name) {
    for (const auto& [each, role] : role_names) {
        if (each == name && role != Role::Anyone) {
            return role;
        }
    }
    return std::nullopt;
}

std::optional<Problem> refusal_of(const Policy& policy, const Caller& caller,
                                  std::string_view space) {
    if (policy.least == Role::Anyone) {
        return std::nullopt;
    }
    if (caller.role == Role::Anyone) {
        return Problem{.status = 401,
                       .code = "unauthorized",
                       .detail = "send a token: Authorization: Bearer …",
                       .headers = {{"WWW-Authenticate", "Bearer"}}};
    }
    if (caller.role < policy.least) {
        return Problem{
            .status = 403,
            .code = "forbidden",
            .detail = fmt::format("this needs the role {}: {} has {}", to_string(policy.least),
                                  caller.name, to_string(caller.role))};
    }
    // Without a namespace of its own, what a route touches belongs to all of them.
    if (!caller.space.empty() && (!policy.is_namespaced || caller.space != space)) {
        return Problem{
            .status = 403,
            .code = "forbidden",
            .detail = fmt::format("{} may use the namespace {} only", caller.name, caller.space)};
    }
    return std::nullopt;
}

std::string TokenTable::hash_of(std::string_view secret) {
    auto hash = std::array<unsigned char, crypto_generichash_BYTES>{};
    crypto_generichash(hash.data(), hash.size(),
                       reinterpret_cast<const unsigned char*>(secret.data()), secret.size(),
                       nullptr, 0);
    return hex(hash);
}

std::string TokenTable::make_secret() {
    auto bytes = std::array<unsigned char, 32>{};
    randombytes_buf(bytes.data(), bytes.size());
    return std::string{secret_prefix} + hex(bytes);
}

std::string TokenTable::add(TokenInfo info) {
    auto secret = make_secret();
    add_hashed(hash_of(secret), std::move(info));
    return secret;
}

void TokenTable::add_hashed(std::string hash, TokenInfo info) {
    auto lock = std::lock_guard{mutex_};
    by_hash_.insert_or_assign(std::move(hash), Entry{.info = std::move(info)});
    count_ = by_hash_.size();
}

void TokenTable::set_configured(std::vector<Hashed> tokens) {
    auto lock = std::lock_guard{mutex_};
    std::erase_if(by_hash_, [](const auto& each) { return each.second.is_configured; });
    for (auto& [hash, info] : tokens) {
        by_hash_.insert_or_assign(std::move(hash),
                                  Entry{.info = std::move(info), .is_configured = true});
    }
    count_ = by_hash_.size();
}

void TokenTable::set_stored(std::vector<Hashed> tokens) {
    auto lock = std::lock_guard{mutex_};
    std::erase_if(by_hash_, [](const auto& each) { return !each.second.is_configured; });
    for (auto& [hash, info] : tokens) {
        by_hash_.try_emplace(std::move(hash), Entry{.info = std::move(info)});
    }
    count_ = by_hash_.size();
}

bool TokenTable::remove(std::string_view name) {
    auto lock = std::lock_guard{mutex_};
    auto removed = std::erase_if(by_hash_, [&](const auto& each) {
        return each.second.info.name == name && !each.second.is_configured;
    });
    count_ = by_hash_.size();
    return removed > 0;
}

std::expected<Caller, TokenFault> TokenTable::find(std::string_view secret) const {
    // Looked up by hash: how long that takes tells nothing of the secret.
    auto hash = hash_of(secret);
    auto lock = std::lock_guard{mutex_};
    auto found = by_hash_.find(hash);
    if (found == by_hash_.end()) {
        return std::unexpected(TokenFault::Unknown);
    }
    const auto& info = found->second.info;
    if (info.expires && *info.expires <= clock_.wall()) {
        return std::unexpected(TokenFault::Expired);
    }
    return Caller{.name = info.name, .role = info.role, .space = info.space};
}

std::vector<TokenInfo> TokenTable::list() const {
    auto lock = std::lock_guard{mutex_};
    auto tokens = std::vector<TokenInfo>{};
    for (const auto& [hash, entry] : by_hash_) {
        tokens.push_back(entry.info);
    }
    std::ranges::sort(tokens, {}, &TokenInfo::name);
    return tokens;
}

} // namespace sluice::server

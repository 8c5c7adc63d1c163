#include "server/tokens.h"

#include <algorithm>

#include "value/time_text.h"

namespace sluice::server {

namespace {

Value content_of(const TokenInfo& info, const std::string& hash) {
    return Value::object({{"role", to_string(info.role)},
                          {"namespace", info.space},
                          {"created", info.created},
                          {"expires", info.expires ? Value{*info.expires} : Value{}},
                          {"hash", hash}});
}

std::string stored_text(const Value& content, std::string_view name) {
    const auto* found = content.find(name);
    return found != nullptr && found->is_string() ? std::string{found->as_string()} : "";
}

Result<TokenTable::Hashed> read_stored(const Document& document) {
    const auto& content = document.content;
    auto role = role_named(stored_text(content, "role"));
    const auto* created = content.find("created");
    const auto* expires = content.find("expires");
    if (!role || created == nullptr || expires == nullptr || !created->is_timestamp()) {
        return fail(Errc::Corrupt, "the token {} is not what was written", document.name);
    }
    auto info = TokenInfo{.name = document.name,
                          .role = *role,
                          .space = stored_text(content, "namespace"),
                          .created = created->as_timestamp()};
    if (expires->is_timestamp()) {
        info.expires = expires->as_timestamp();
    }
    return TokenTable::Hashed{stored_text(content, "hash"), std::move(info)};
}

} // namespace

Result<void> Tokens::load() {
    auto lock = std::lock_guard{mutex_};
    auto stored = std::vector<TokenTable::Hashed>{};
    for (const auto& document : documents_.list(kind)) {
        stored.push_back(TRY(read_stored(document)));
    }
    table_.set_stored(std::move(stored));
    return {};
}

Result<std::string> Tokens::create(const TokenInfo& info) {
    auto lock = std::lock_guard{mutex_};
    auto others = table_.list();
    if (std::ranges::find(others, info.name, &TokenInfo::name) != others.end()) {
        return fail(Errc::AlreadyExists, "there is a token \"{}\" already", info.name);
    }
    if (!info.is_root() && std::ranges::none_of(others, &TokenInfo::is_root)) {
        return fail(Errc::Conflict,
                    "the first token must have the role admin, no namespace and no end: otherwise "
                    "nobody could make another");
    }
    auto secret = TokenTable::make_secret();
    auto hash = TokenTable::hash_of(secret);
    TRY(documents_.put(kind, {.name = info.name, .content = content_of(info, hash)}));
    table_.add_hashed(std::move(hash), info);
    return secret;
}

Result<void> Tokens::remove(std::string_view name) {
    auto lock = std::lock_guard{mutex_};
    auto others = table_.list();
    std::erase_if(others, [&](const auto& each) { return each.name == name; });
    auto may_be_none = others.empty() && without_tokens_ == WithoutTokens::Everybody;
    if (documents_.find(kind, "", name) && !may_be_none &&
        std::ranges::none_of(others, &TokenInfo::is_root)) {
        return fail(Errc::Conflict,
                    "\"{}\" is the last token that can make others: make another one first", name);
    }
    TRY(documents_.remove(kind, "", name));
    table_.remove(name);
    return {};
}

} // namespace sluice::server

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/nearest.h"
#include "secret/secrets.h"
#include "server/configuration.h"
#include "value/time_text.h"

namespace sluice::server {

namespace {

constexpr std::string_view token_members[] = {"name",    "role", "namespace",
                                              "expires", "hash", "secret"};
constexpr auto hash_digits = std::size_t{64};

bool is_hash(std::string_view text) {
    return text.size() == hash_digits && std::ranges::all_of(text, [](unsigned char digit) {
               return std::isdigit(digit) != 0 || (digit >= 'a' && digit <= 'f');
           });
}

/// What is wrong with the member; empty: nothing, and the token has it.
std::string read_token_member(std::string_view name, const std::string& text,
                              ConfiguredToken& token) {
    if (name == "name") {
        token.info.name = text;
    } else if (name == "namespace") {
        token.info.space = text;
    } else if (name == "role") {
        auto role = role_named(text);
        token.info.role = role.value_or(Role::Reader);
        return role ? "" : "expected reader, operator or admin";
    } else if (name == "expires") {
        auto time = value::parse_time(text);
        token.info.expires = time ? std::optional{*time} : std::nullopt;
        return time ? "" : "expected a time such as 2027-01-31T00:00:00Z";
    } else if (name == "hash") {
        token.hash = text;
        return is_hash(text) ? "" : "expected 64 hexadecimal digits, as `sluice token create` says";
    } else if (name == "secret") {
        token.secret = text;
        return secret::Secrets::has_reference(text)
                   ? ""
                   : "a secret does not stand in a file: refer to it with ${secret:NAME}";
    } else {
        auto meant = nearest(name, token_members);
        return meant.empty() ? "unknown member"
                             : fmt::format("unknown member: did you mean \"{}\"?", meant);
    }
    return "";
}

ConfiguredToken read_token(const Value& form, const std::string& path,
                           std::vector<Configured::Fault>& faults) {
    auto token = ConfiguredToken{};
    if (!form.is_map()) {
        faults.push_back({path, "expected {name, role, namespace, expires, hash or secret}"});
        return token;
    }
    for (const auto& [name, value] : form.as_map()) {
        auto fault = value.is_string()
                         ? read_token_member(name, std::string{value.as_string()}, token)
                         : std::string{"expected a text"};
        if (!fault.empty()) {
            faults.push_back({fmt::format("{}/{}", path, name), std::move(fault)});
        }
    }
    if (token.info.name.empty()) {
        faults.push_back({path, "a token needs a name"});
    }
    if (token.hash.empty() == token.secret.empty()) {
        faults.push_back({path, "a token needs either hash or secret"});
    }
    return token;
}

} // namespace

std::vector<ConfiguredToken> read_tokens(const Value& form, const std::string& path,
                                         std::vector<Configured::Fault>& faults) {
    auto tokens = std::vector<ConfiguredToken>{};
    if (!form.is_list()) {
        faults.push_back({path, "expected a list of tokens"});
        return tokens;
    }
    auto number = 0;
    for (const auto& item : form.as_list()) {
        tokens.push_back(read_token(item, fmt::format("{}/{}", path, number++), faults));
    }
    return tokens;
}

} // namespace sluice::server

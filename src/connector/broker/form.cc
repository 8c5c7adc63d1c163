#include "connector/broker/form.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace sluice::connector::broker {

namespace {

constexpr auto mask = std::string_view{"…"};

bool is_secret(std::string_view name) {
    constexpr auto words = std::array<std::string_view, 3>{"password", "secret", "token"};
    return std::ranges::any_of(words, [&](std::string_view word) { return name.contains(word); });
}

/// Who has no password shows a token.
std::string masked_user(std::string_view user) {
    auto colon = user.find(':');
    auto shown = colon == std::string_view::npos ? "" : std::string{user.substr(0, colon + 1)};
    return shown += mask;
}

std::string masked_query(std::string_view query) {
    auto shown = std::string{};
    while (!query.empty()) {
        auto parameter = query.substr(0, query.find('&'));
        auto name = parameter.substr(0, parameter.find('='));
        shown += is_secret(name) ? std::string{name}.append("=").append(mask) : parameter;
        query.remove_prefix(parameter.size());
        if (!query.empty()) {
            shown += '&';
            query.remove_prefix(1);
        }
    }
    return shown;
}

std::string masked_url(std::string_view url) {
    auto query = std::min(url.find('?'), url.size());
    auto place = url.substr(0, query);
    auto scheme_end = place.find("://");
    // The last one: who writes one into a password unescaped is not to be given away.
    auto at = place.rfind('@');
    auto shown = std::string{place};
    if (at != std::string_view::npos) {
        auto begin = scheme_end == std::string_view::npos || scheme_end > at ? 0 : scheme_end + 3;
        shown = std::string{place.substr(0, begin)}
                    .append(masked_user(place.substr(begin, at - begin)))
                    .append(place.substr(at));
    }
    return query == url.size() ? shown : shown + '?' + masked_query(url.substr(query + 1));
}

Value masked_member(std::string_view name, const Value& value) {
    if (value.is_map()) {
        return masked(value);
    }
    if (is_secret(name)) {
        return Value{mask};
    }
    return name == "url" && value.is_string() ? Value{masked_url(value.as_string())} : value;
}

} // namespace

Value masked(const Value& form) {
    if (!form.is_map()) {
        return form;
    }
    auto shown = std::vector<value::Member>{};
    for (const auto& [name, value] : form.as_map()) {
        shown.push_back({name, masked_member(name, value)});
    }
    return Value::map(std::move(shown));
}

Result<Value> expand(const Value& form, const secret::Secrets& secrets, std::string_view scope) {
    if (form.is_string()) {
        auto text = TRY(secrets.expand(form.as_string(), scope));
        return Value{std::move(text)};
    }
    if (form.is_list()) {
        auto items = std::vector<Value>{};
        for (const auto& item : form.as_list()) {
            items.push_back(TRY(expand(item, secrets, scope)));
        }
        return Value::list(std::move(items));
    }
    if (!form.is_map()) {
        return form;
    }
    auto members = std::vector<value::Member>{};
    for (const auto& [name, value] : form.as_map()) {
        auto expanded = TRY(expand(value, secrets, scope));
        members.push_back({name, std::move(expanded)});
    }
    return Value::map(std::move(members));
}

} // namespace sluice::connector::broker

#include "connector/redis/options.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace sluice::connector::redis {
namespace {

template <typename Choice>
using Names = std::initializer_list<std::pair<std::string_view, Choice>>;

template <typename Choice>
Result<void> choose(std::string_view what, std::string_view text, Names<Choice> names,
                    Choice& into) {
    auto list = std::string{};
    for (const auto& [name, meaning] : names) {
        if (text == name) {
            into = meaning;
            return {};
        }
        list += (list.empty() ? "" : ", ") + std::string{name};
    }
    return fail(Errc::InvalidInput, "{} is one of {}, not {}", what, list, text);
}

Result<void> add_streams(std::string_view list, Options& options) {
    while (!list.empty()) {
        auto name = list.substr(0, list.find(','));
        list.remove_prefix(std::min(name.size() + 1, list.size()));
        if (name.empty()) {
            return fail(Errc::InvalidInput, "a stream has a name: write stream=a,b");
        }
        options.streams.emplace_back(name);
    }
    return {};
}

Result<void> set(std::string_view name, std::string_view value, Options& options) {
    if (name == "reading") {
        return choose<Reading>(name, value,
                               {{"position", Reading::Position}, {"group", Reading::Group}},
                               options.reading);
    }
    if (name == "start") {
        return choose<Start>(
            name, value,
            {{"first", Start::First}, {"earliest", Start::Earliest}, {"new", Start::New}},
            options.start);
    }
    if (name == "trim") {
        return choose<Trim>(name, value, {{"no", Trim::No}, {"confirmed", Trim::Confirmed}},
                            options.trim.emplace());
    }
    if (name == "mode") {
        return choose<Mode>(name, value,
                            {{"structured", Mode::Structured}, {"binary", Mode::Binary}},
                            options.mode);
    }
    if (name == "group") {
        options.group = value;
    } else if (name == "consumer") {
        options.consumer = value;
    } else if (name == "prefix") {
        options.prefix = value;
    } else if (name == "stream") {
        return add_streams(value, options);
    } else if (name == "length_max") {
        options.length_max = TRY(resp::parse_whole(name, value, 0, 1ULL << 40U));
    } else if (name == "patience") {
        options.patience = TRY(resp::parse_duration(name, value));
    } else if (name == "claim_after") {
        options.claim_after = TRY(resp::parse_duration(name, value));
    } else {
        return fail(Errc::InvalidInput,
                    "Redis has no parameter {}: there are stream, reading, group, consumer, start, "
                    "trim, mode, length_max, patience, claim_after, prefix, db, connect_limit, ca, "
                    "cert, key and verify",
                    name);
    }
    return {};
}

Result<void> check(const Options& options) {
    if (options.reading == Reading::Group && options.group.empty()) {
        return fail(Errc::InvalidInput, "reading=group needs the group's name: group=NAME");
    }
    if (options.reading == Reading::Group && options.consumer.empty()) {
        return fail(Errc::InvalidInput, "reading=group needs a name in the group: consumer=NAME");
    }
    if (options.reading == Reading::Group && options.trim == Trim::Confirmed) {
        return fail(Errc::InvalidInput,
                    "trim=confirmed is for reading=position: other consumers of the group may not "
                    "have read what would go");
    }
    return {};
}

Result<std::string> text_of(const value::Member& member) {
    if (member.value.is_string()) {
        return std::string{member.value.as_string()};
    }
    if (member.value.is_int()) {
        return std::to_string(member.value.as_int());
    }
    return fail(Errc::InvalidInput, "{} is a text, not a {}", member.key,
                value::to_string(member.value.kind()));
}

Result<void> set_streams(const Value& list, Options& options) {
    if (!list.is_list()) {
        return fail(Errc::InvalidInput, "streams is a list of names");
    }
    for (const auto& item : list.as_list()) {
        if (!item.is_string() || item.size() == 0) {
            return fail(Errc::InvalidInput, "streams is a list of names");
        }
        options.streams.emplace_back(item.as_string());
    }
    return {};
}

} // namespace

Result<Options> parse_options(std::string_view url) {
    auto parts = TRY(resp::parse_url(url));
    auto options = Options{.server = std::move(parts.server)};
    if (!parts.path.empty()) {
        options.prefix = std::move(parts.path);
    }
    for (const auto& [name, value] : parts.query) {
        TRY(set(name, value, options));
    }
    TRY(check(options));
    return options;
}

Result<Options> parse_form(const Value& form) {
    const auto* url = form.find("url");
    if (url == nullptr || !url->is_string()) {
        return fail(Errc::InvalidInput, "url is missing: write redis://HOST:PORT");
    }
    auto options = TRY(parse_options(url->as_string()));
    for (const auto& member : form.as_map()) {
        if (member.key == "url") {
            continue;
        }
        if (member.key == "streams") {
            TRY(set_streams(member.value, options));
            continue;
        }
        auto text = TRY(text_of(member));
        if (member.key == "user") {
            options.server.user = std::move(text);
        } else if (member.key == "password") {
            options.server.password = std::move(text);
        } else if (member.key == "stream") {
            options.streams.push_back(std::move(text));
        } else {
            TRY(set(member.key, text, options));
        }
    }
    TRY(check(options));
    return options;
}

} // namespace sluice::connector::redis

#include "store/postgres/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>

#include <libpq-fe.h>

#include "base/nearest.h"

namespace sluice::store::postgres {
namespace {

constexpr auto own_names = std::array<std::string_view, 6>{"schema",   "durability", "shards",
                                                           "patience", "timeout",    "readers"};
constexpr auto url_bytes_max = std::size_t{64} << 10U;
/// What PostgreSQL cuts names to.
constexpr auto schema_bytes_max = std::size_t{63};
constexpr auto seconds_max = std::uint64_t{86'400};

struct FreeInfo {
    void operator()(PQconninfoOption* info) const { PQconninfoFree(info); }
};
using Info = std::unique_ptr<PQconninfoOption, FreeInfo>;

std::vector<std::string_view> known_names(const PQconninfoOption* defaults) {
    auto names = std::vector<std::string_view>(own_names.begin(), own_names.end());
    for (const auto* option = defaults; option->keyword != nullptr; ++option) {
        names.emplace_back(option->keyword);
    }
    // Only URLs know it.
    names.emplace_back("ssl");
    return names;
}

Result<std::uint64_t> number_in(std::string_view name, std::string_view text, std::uint64_t least,
                                std::uint64_t most) {
    auto number = std::uint64_t{0};
    auto [end, problem] = std::from_chars(text.begin(), text.end(), number);
    if (problem != std::errc{} || end != text.end() || number < least || number > most) {
        return fail(Errc::InvalidInput, "{}={} in a store's URL: a number from {} to {} is needed",
                    name, text, least, most);
    }
    return number;
}

Result<Nanos> duration_in(std::string_view name, std::string_view text) {
    if (text.ends_with("ms")) {
        auto digits = text.substr(0, text.size() - 2);
        return std::chrono::milliseconds{TRY(number_in(name, digits, 1, seconds_max * 1000))};
    }
    auto digits = text.ends_with('s') ? text.substr(0, text.size() - 1) : text;
    return std::chrono::seconds{TRY(number_in(name, digits, 1, seconds_max))};
}

Result<std::string_view> schema_in(std::string_view text) {
    auto is_plain = [](char byte) {
        return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '_';
    };
    if (text.empty() || text.size() > schema_bytes_max || !std::ranges::all_of(text, is_plain) ||
        text.starts_with("pg_")) {
        return fail(Errc::InvalidInput,
                    "schema={} in a store's URL: up to {} lower-case letters, digits and _ are "
                    "needed, not beginning with pg_",
                    text, schema_bytes_max);
    }
    return text;
}

Result<Durability> durability_in(std::string_view text) {
    if (text != "strict" && text != "relaxed") {
        return fail(Errc::InvalidInput,
                    "durability={} in a postgres URL: strict or relaxed is needed", text);
    }
    return text == "strict" ? Durability::Strict : Durability::Relaxed;
}

Result<void> take_own(Options& options, std::string_view name, std::string_view value) {
    if (name == "patience") {
        options.patience = TRY(duration_in(name, value));
    } else if (name == "timeout") {
        options.timeout = TRY(duration_in(name, value));
    } else if (name == "readers") {
        options.readers = static_cast<std::uint16_t>(TRY(number_in(name, value, 1, 1000)));
    } else if (name == "shards") {
        options.shard_count = static_cast<std::uint16_t>(TRY(number_in(name, value, 1, 65'534)));
    } else if (name == "durability") {
        options.durability = TRY(durability_in(value));
    } else {
        options.schema = TRY(schema_in(value));
    }
    return {};
}

/// Takes our own parameters, gives back those for libpq as they were written.
Result<std::string> split_parameters(Options& options, std::string_view query,
                                     const PQconninfoOption* defaults) {
    auto known = known_names(defaults);
    auto others = std::string{};
    while (!query.empty()) {
        auto part = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), part.size() + 1));
        auto name = part.substr(0, part.find('='));
        if (std::ranges::find(known, name) == known.end()) {
            auto meant = nearest(name, known);
            return fail(Errc::InvalidInput,
                        "a postgres URL has no parameter {}{}: there are schema, durability, "
                        "shards, patience, timeout, readers and those of libpq",
                        name, meant.empty() ? "" : fmt::format(" (did you mean {}?)", meant));
        }
        if (std::ranges::find(own_names, name) == own_names.end()) {
            others += others.empty() ? '?' : '&';
            others += part;
            continue;
        }
        TRY(take_own(options, name, part.substr(std::min(part.size(), name.size() + 1))));
    }
    return others;
}

/// libpq would take what stands behind an unexpected sign for a host, and say it in its errors.
Result<void> check_credentials(std::string_view address) {
    auto rest = address.substr(address.find("://") + 3);
    auto authority = rest.substr(0, rest.find('/'));
    if (std::ranges::count(rest, '@') > 1 || (authority.find('@') == std::string_view::npos &&
                                              rest.find('@') != std::string_view::npos)) {
        return fail(Errc::InvalidInput,
                    "a postgres URL has one @ at most, behind user and "
                    "password: write @ as %40 and / as %2F in them");
    }
    return {};
}

Result<void> check_ports(std::string_view ports) {
    auto is_port = [](char byte) { return (byte >= '0' && byte <= '9') || byte == ','; };
    if (!std::ranges::all_of(ports, is_port)) {
        return fail(Errc::InvalidInput,
                    "the port in a postgres URL is no number; in a password, "
                    "write : as %3A, / as %2F and @ as %40");
    }
    return {};
}

} // namespace

Result<Options> Options::parse(std::string_view url) {
    auto begins = url.starts_with("postgres://") || url.starts_with("postgresql://");
    if (!begins || url.size() > url_bytes_max || url.find('\0') != std::string_view::npos) {
        return fail(Errc::InvalidInput,
                    "a store's URL looks like postgres://user:password@host:port/database");
    }
    auto defaults = Info{PQconndefaults()};
    if (defaults == nullptr) {
        return fail(Errc::Internal, "libpq does not tell its parameters");
    }
    auto options = Options{};
    auto address = url.substr(0, url.find('?'));
    TRY(check_credentials(address));
    auto query = url.substr(std::min(url.size(), address.size() + 1));
    auto others = TRY(split_parameters(options, query, defaults.get()));

    // Its messages repeat parts of the URL, so they are not passed on.
    auto info = Info{PQconninfoParse((std::string{address} + others).c_str(), nullptr)};
    if (info == nullptr) {
        return fail(Errc::InvalidInput,
                    "this is no URL that libpq reads: it looks like "
                    "postgres://user:password@host:port/database?sslmode=require, with other signs "
                    "than letters and digits written as %40");
    }
    for (const auto* option = info.get(); option->keyword != nullptr; ++option) {
        if (option->val != nullptr && *option->val != '\0') {
            options.parameters.emplace_back(option->keyword, option->val);
        }
    }
    TRY(check_ports(options.parameter("port")));
    return options;
}

std::string Options::where() const {
    auto or_default = [&](std::string_view name, std::string_view instead) {
        auto value = parameter(name);
        return value.empty() ? instead : value;
    };
    return fmt::format("{}:{}/{}", or_default("host", "localhost"), or_default("port", "5432"),
                       or_default("dbname", or_default("user", "postgres")));
}

std::string_view Options::parameter(std::string_view name) const {
    auto found = std::ranges::find(parameters, name, &std::pair<std::string, std::string>::first);
    return found == parameters.end() ? std::string_view{} : std::string_view{found->second};
}

} // namespace sluice::store::postgres

#include "connector/nats/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/nearest.h"
#include "connector/nats/internal/escapes.h"
#include "value/amount_text.h"
#include "value/time_text.h"

namespace sluice::connector::nats {

namespace {

constexpr auto default_port = std::string_view{"4222"};
constexpr auto server_bytes_max = std::size_t{300};
constexpr auto prefetch_bytes_min = std::size_t{64} << 10U;
constexpr auto prefetch_bytes_max = std::size_t{4} << 30U;

constexpr auto time_span_min = Nanos{std::chrono::milliseconds{100}};
constexpr auto duplicates_max = Nanos{std::chrono::days{7}};
constexpr auto send_time_longest = Nanos{std::chrono::hours{1}};

/// A parameter as it is written.
struct Word {
    std::string_view name;
    std::string_view text;
};

Result<std::uint64_t> parse_number(const Word& word, std::uint64_t min, std::uint64_t max) {
    auto [name, text] = word;
    auto number = std::uint64_t{0};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < min || number > max) {
        return fail(Errc::InvalidInput, "{} is '{}': write a number from {} to {}", name, text, min,
                    max);
    }
    return number;
}

Result<std::size_t> parse_size(const Word& word) {
    auto [name, text] = word;
    auto is_number =
        !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    auto written = is_number ? std::string{text} + "B" : std::string{text};
    auto bytes = value::parse_bytes(Value{written});
    if (!bytes || *bytes < prefetch_bytes_min || *bytes > prefetch_bytes_max) {
        return fail(Errc::InvalidInput,
                    "{} is '{}': write a size from 64KiB to 4GiB, such as 16MiB", name, text);
    }
    return *bytes;
}

Result<Nanos> parse_time_span(const Word& word, Nanos max) {
    auto [name, text] = word;
    auto span = value::parse_duration(text);
    if (!span || *span < time_span_min || *span > max) {
        return fail(Errc::InvalidInput, "{} is '{}': write a time from {} to {}, such as 2m", name,
                    text, value::format_duration(time_span_min), value::format_duration(max));
    }
    return *span;
}

bool is_word(std::string_view text, std::string_view others) {
    return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [&](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') ||
               others.contains(letter);
    });
}

constexpr auto capitals = std::string_view{"ABCDEFGHIJKLMNOPQRSTUVWXYZ-_"};

Result<std::string> parse_name(const Word& word) {
    auto [name, text] = word;
    if (!text.empty() && !is_word(text, capitals)) {
        return fail(Errc::InvalidInput, "{} is '{}': write up to 64 letters, digits, '-' and '_'",
                    name, text);
    }
    return std::string{text};
}

Result<std::string> parse_path(const Word& word) {
    auto [name, text] = word;
    if (text.empty() || text.contains('\0')) {
        return fail(Errc::InvalidInput, "{} is empty: write the path of a file", name);
    }
    return std::string{text};
}

Result<std::string> parse_secret(const Word& word) {
    auto [name, text] = word;
    if (text.contains('\0')) {
        return fail(Errc::InvalidInput, "{} has a zero byte in it, which NATS cannot take", name);
    }
    return std::string{text};
}

template <typename T>
Result<void> put(T& place, Result<T> read) {
    place = TRY(std::move(read));
    return {};
}

Result<void> put_verification(Options& options, const Word& word) {
    auto is_on = TRY(parse_bool(word.name, word.text));
    options.tls.verification = is_on ? Verification::On : Verification::Off;
    return {};
}

Result<void> put_replicas(Options& options, const Word& word) {
    options.replicas = static_cast<std::uint32_t>(TRY(parse_number(word, 1, 5)));
    return {};
}

Result<void> put_mode(Options& options, const Word& word) {
    if (word.text != "structured" && word.text != "binary") {
        return fail(Errc::InvalidInput, "mode is '{}': write structured or binary", word.text);
    }
    options.mode = word.text == "binary" ? Mode::Binary : Mode::Structured;
    return {};
}

Result<void> put_reading(Options& options, const Word& word) {
    if (word.text != "direct" && word.text != "library") {
        return fail(Errc::InvalidInput, "reading is '{}': write direct or library", word.text);
    }
    options.reading = word.text == "library" ? Reading::Library : Reading::Direct;
    return {};
}

struct Setting {
    std::string_view name;
    Result<void> (*set)(Options& options, const Word& word);
};

constexpr auto settings = std::array<Setting, 21>{{
    {"ca", [](auto& o, auto& w) { return put(o.tls.ca_file, parse_path(w)); }},
    {"cert", [](auto& o, auto& w) { return put(o.tls.certificate_file, parse_path(w)); }},
    {"key", [](auto& o, auto& w) { return put(o.tls.key_file, parse_path(w)); }},
    {"tls", [](auto& o, auto& w) { return put(o.tls.is_on, parse_bool(w.name, w.text)); }},
    {"verify", put_verification},
    {"user", [](auto& o, auto& w) { return put(o.login.user, parse_secret(w)); }},
    {"password", [](auto& o, auto& w) { return put(o.login.password, parse_secret(w)); }},
    {"token", [](auto& o, auto& w) { return put(o.login.token, parse_secret(w)); }},
    {"credentials", [](auto& o, auto& w) { return put(o.login.credentials_file, parse_path(w)); }},
    {"nkey", [](auto& o, auto& w) { return put(o.login.nkey, parse_name(w)); }},
    {"nkey_seed", [](auto& o, auto& w) { return put(o.login.nkey_seed_file, parse_path(w)); }},
    {"group", [](auto& o, auto& w) { return put(o.group, parse_name(w)); }},
    {"domain", [](auto& o, auto& w) { return put(o.domain, parse_name(w)); }},
    {"replicas", put_replicas},
    {"duplicates",
     [](auto& o, auto& w) { return put(o.duplicates, parse_time_span(w, duplicates_max)); }},
    {"purge", [](auto& o, auto& w) { return put(o.is_purged, parse_bool(w.name, w.text)); }},
    {"mode", put_mode},
    {"reading", put_reading},
    {"prefetch", [](auto& o, auto& w) { return put(o.prefetch_bytes, parse_size(w)); }},
    {"in_flight",
     [](auto& o, auto& w) { return put(o.in_flight_max, parse_number(w, 1, 1'000'000)); }},
    {"timeout",
     [](auto& o, auto& w) { return put(o.send_time_max, parse_time_span(w, send_time_longest)); }},
}};

Result<std::string> parse_server(std::string_view text) {
    auto bracket = text.starts_with('[') ? text.find(']') : std::string_view::npos;
    auto colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
    auto host = text.substr(0, colon);
    auto port = colon == std::string_view::npos ? default_port : text.substr(colon + 1);
    constexpr auto host_letters =
        std::string_view{"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_[]:"};
    if (host.empty() || text.size() > server_bytes_max ||
        host.find_first_not_of(host_letters) != std::string_view::npos) {
        return fail(Errc::InvalidInput, "'{}' is no server: write nats://host:4222",
                    text.substr(0, server_bytes_max));
    }
    auto number = TRY(parse_number({.name = "the port", .text = port}, 1, 65'535));
    return fmt::format("{}:{}", host, number);
}

Result<void> read_login(Options& options, std::string_view text) {
    auto colon = text.find(':');
    auto name = internal::unescape(text.substr(0, colon));
    if (colon == std::string_view::npos) {
        return set_option(options, "token", name);
    }
    TRY(set_option(options, "user", name));
    return set_option(options, "password", internal::unescape(text.substr(colon + 1)));
}

Result<void> read_query(Options& options, std::string_view query) {
    while (!query.empty()) {
        auto pair = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), pair.size() + 1));
        if (pair.empty()) {
            continue;
        }
        auto equals = pair.find('=');
        if (equals == std::string_view::npos) {
            return fail(Errc::InvalidInput, "the parameter '{}' has no value: write {}=…", pair,
                        pair);
        }
        TRY(set_option(options, pair.substr(0, equals),
                       internal::unescape(pair.substr(equals + 1))));
    }
    return {};
}

Result<void> read_servers(Options& options, std::string_view text) {
    while (true) {
        auto comma = text.find(',');
        options.servers.push_back(TRY(parse_server(text.substr(0, comma))));
        if (comma == std::string_view::npos) {
            return {};
        }
        text.remove_prefix(comma + 1);
    }
}

/// `user:password@host,host/prefix`.
Result<void> read_authority(Options& options, std::string_view text) {
    auto slash = text.find('/');
    if (slash != std::string_view::npos) {
        auto prefix = text.substr(slash + 1);
        if (!prefix.empty() && !is_word(prefix, "-_")) {
            return fail(Errc::InvalidInput,
                        "the prefix is '{}': write up to 64 small letters, digits, '-' and '_'",
                        prefix);
        }
        if (!prefix.empty()) {
            options.prefix = prefix;
        }
        text = text.substr(0, slash);
    }
    // A password may have an @ in it.
    auto at = text.rfind('@');
    if (at != std::string_view::npos) {
        TRY(read_login(options, text.substr(0, at)));
        text.remove_prefix(at + 1);
    }
    return read_servers(options, text);
}

} // namespace

Result<bool> parse_bool(std::string_view name, std::string_view text) {
    if (text != "true" && text != "false") {
        return fail(Errc::InvalidInput, "{} is '{}': write true or false", name, text);
    }
    return text == "true";
}

Result<void> set_option(Options& options, std::string_view name, std::string_view text) {
    const auto* found = std::ranges::find(settings, name, &Setting::name);
    if (found == settings.end()) {
        auto names = std::array<std::string_view, settings.size()>{};
        std::ranges::transform(settings, names.begin(), &Setting::name);
        auto meant = nearest(name, names);
        if (meant.empty()) {
            return fail(Errc::InvalidInput, "there is no parameter '{}': there are {}", name,
                        fmt::join(names, ", "));
        }
        return fail(Errc::InvalidInput, "there is no parameter '{}': write {}", name, meant);
    }
    return found->set(options, {.name = name, .text = text});
}

Result<void> check_options(const Options& options) {
    const auto& login = options.login;
    auto ways = int{!login.user.empty() || !login.password.empty()} + int{!login.token.empty()} +
                int{!login.credentials_file.empty()} +
                int{!login.nkey.empty() || !login.nkey_seed_file.empty()};
    if (ways > 1) {
        return fail(Errc::InvalidInput,
                    "there are several ways to log in: give a user with its "
                    "password, a token, credentials or an nkey");
    }
    if (login.nkey.empty() != login.nkey_seed_file.empty()) {
        return fail(Errc::InvalidInput,
                    "nkey and nkey_seed go together: the public key, and the file of its seed");
    }
    const auto& tls = options.tls;
    if (tls.certificate_file.empty() != tls.key_file.empty()) {
        return fail(Errc::InvalidInput, "cert and key go together: give both files");
    }
    auto is_told =
        !tls.ca_file.empty() || !tls.key_file.empty() || tls.verification == Verification::Off;
    if (is_told && !tls.is_on) {
        return fail(Errc::InvalidInput,
                    "ca, cert, key and verify are for TLS: write tls:// instead of nats://");
    }
    return {};
}

Result<Options> parse_url(std::string_view url) {
    auto options = Options{};
    if (url.starts_with("tls://")) {
        options.tls.is_on = true;
    } else if (!url.starts_with("nats://")) {
        return fail(Errc::InvalidInput, "the address of NATS begins with nats:// or tls://");
    }
    url.remove_prefix(url.find("//") + 2);
    auto question = url.find('?');
    TRY(read_authority(options, url.substr(0, question)));
    if (question != std::string_view::npos) {
        TRY(read_query(options, url.substr(question + 1)));
    }
    TRY(check_options(options));
    return options;
}

} // namespace sluice::connector::nats

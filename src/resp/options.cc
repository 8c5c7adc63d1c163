#include "resp/options.h"

#include <array>
#include <charconv>
#include <limits>

#include "http/url.h"

namespace sluice::resp {
namespace {

struct Scheme {
    std::string_view prefix;
    Encryption encryption;
    bool is_socket;
};

constexpr auto schemes = std::to_array<Scheme>({
    {"redis://", Encryption::None, false},
    {"rediss://", Encryption::Verified, false},
    {"redis+unix://", Encryption::None, true},
});

Result<const Scheme*> scheme_of(std::string_view text) {
    for (const auto& scheme : schemes) {
        if (text.starts_with(scheme.prefix)) {
            return &scheme;
        }
    }
    return fail(Errc::InvalidInput,
                "this is no URL of a Redis server: write redis://HOST:PORT/PREFIX, rediss:// for "
                "TLS, or redis+unix:///PATH");
}

/// Takes `user:password@` off the front.
Result<void> read_login(std::string_view& authority, Options& server) {
    auto at = authority.rfind('@');
    if (at == std::string_view::npos) {
        return {};
    }
    auto login = authority.substr(0, at);
    authority.remove_prefix(at + 1);
    auto colon = login.find(':');
    auto user = http::percent_decode(login.substr(0, colon));
    auto password = http::percent_decode(colon == std::string_view::npos ? std::string_view{}
                                                                         : login.substr(colon + 1));
    if (!user || !password) {
        return fail(Errc::InvalidInput,
                    "name or password in the URL of Redis has a % that is no escape: write %25");
    }
    server.user = std::move(*user);
    server.password = std::move(*password);
    return {};
}

Result<void> read_place(std::string_view authority, Options& server) {
    auto host = authority;
    auto port = std::string_view{};
    if (authority.starts_with('[')) {
        auto end = authority.find(']');
        if (end == std::string_view::npos) {
            return fail(Errc::InvalidInput, "the address in brackets has no end: write [::1]:6379");
        }
        host = authority.substr(1, end - 1);
        port = authority.substr(end + 1);
        if (!port.empty() && !port.starts_with(':')) {
            return fail(Errc::InvalidInput, "behind the brackets stands a port: write [::1]:6379");
        }
    } else if (auto colon = authority.rfind(':'); colon != std::string_view::npos) {
        host = authority.substr(0, colon);
        port = authority.substr(colon);
    }
    if (!host.empty()) {
        server.host = host;
    }
    if (!port.empty()) {
        server.port =
            static_cast<std::uint16_t>(TRY(parse_whole("the port", port.substr(1), 1, 65535)));
    }
    return {};
}

Result<void> set_verify(std::string_view value, Options& server) {
    if (value != "yes" && value != "no") {
        return fail(Errc::InvalidInput, "verify is yes or no, not {}", value);
    }
    if (value == "no" && server.tls.encryption != Encryption::None) {
        server.tls.encryption = Encryption::Unverified;
    }
    return {};
}

/// True when the parameter is about the connection.
Result<bool> set_parameter(std::string_view name, std::string_view value, Options& server) {
    if (name == "db") {
        server.database = static_cast<std::uint16_t>(TRY(parse_whole("db", value, 0, 65535)));
    } else if (name == "connect_limit") {
        server.connect_limit = TRY(parse_duration(name, value));
    } else if (name == "ca" || name == "cert" || name == "key" || name == "verify") {
        if (server.tls.encryption == Encryption::None) {
            return fail(Errc::InvalidInput, "{} is for TLS: write rediss:// instead of redis://",
                        name);
        }
        if (name == "verify") {
            TRY(set_verify(value, server));
        } else {
            (name == "ca"     ? server.tls.ca_file
             : name == "cert" ? server.tls.certificate_file
                              : server.tls.key_file) = value;
        }
    } else {
        return false;
    }
    return true;
}

Result<void> read_query(std::string_view query, Url& url) {
    while (!query.empty()) {
        auto part = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(part.size() + 1, query.size()));
        if (part.empty()) {
            continue;
        }
        auto equals = part.find('=');
        if (equals == std::string_view::npos) {
            return fail(Errc::InvalidInput, "a parameter without a value: write {}=VALUE", part);
        }
        auto name = TRY(http::percent_decode(part.substr(0, equals)));
        auto value = TRY(http::percent_decode(part.substr(equals + 1)));
        if (!TRY(set_parameter(name, value, url.server))) {
            url.query.emplace_back(std::move(name), std::move(value));
        }
    }
    if (url.server.tls.certificate_file.empty() != url.server.tls.key_file.empty()) {
        return fail(Errc::InvalidInput, "cert and key belong together: give both or none");
    }
    return {};
}

} // namespace

std::string Options::address() const {
    return socket_path.empty() ? fmt::format("{}:{}", host, port) : socket_path;
}

Result<Url> parse_url(std::string_view text) {
    const auto& scheme = *TRY(scheme_of(text));
    auto rest = text.substr(scheme.prefix.size());
    rest = rest.substr(0, rest.find('#'));
    auto question = rest.find('?');
    auto query =
        question == std::string_view::npos ? std::string_view{} : rest.substr(question + 1);
    rest = rest.substr(0, question);
    auto slash = rest.find('/', std::min(rest.rfind('@') + 1, rest.size()));
    auto authority = rest.substr(0, slash);
    auto path = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash);

    auto url = Url{};
    url.server.tls.encryption = scheme.encryption;
    TRY(read_login(authority, url.server));
    if (scheme.is_socket) {
        if (path.size() < 2 || !authority.empty()) {
            return fail(
                Errc::InvalidInput,
                "a Unix socket is named by its whole path: write redis+unix:///run/redis.sock");
        }
        url.server.socket_path = TRY(http::percent_decode(path));
    } else {
        TRY(read_place(authority, url.server));
        url.path = TRY(http::percent_decode(path.substr(std::min<std::size_t>(1, path.size()))));
    }
    TRY(read_query(query, url));
    return url;
}

Result<std::uint64_t> parse_whole(std::string_view what, std::string_view text, std::uint64_t least,
                                  std::uint64_t most) {
    auto number = std::uint64_t{0};
    auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc{} || end != text.data() + text.size() || number < least ||
        number > most) {
        return fail(Errc::InvalidInput, "{} is a whole number from {} to {}, not {}", what, least,
                    most, text.empty() ? "nothing" : text);
    }
    return number;
}

Result<Nanos> parse_duration(std::string_view what, std::string_view text) {
    static constexpr auto units =
        std::to_array<std::pair<std::string_view, Nanos>>({{"ms", std::chrono::milliseconds{1}},
                                                           {"s", std::chrono::seconds{1}},
                                                           {"m", std::chrono::minutes{1}},
                                                           {"h", std::chrono::hours{1}}});
    auto digits = text.substr(0, text.find_first_not_of("0123456789"));
    for (const auto& [unit, length] : units) {
        if (text.substr(digits.size()) == unit) {
            auto count = TRY(parse_whole(what, digits, 1, 1'000'000));
            return length * static_cast<std::int64_t>(count);
        }
    }
    return fail(Errc::InvalidInput, "{} is a time such as 250ms, 5s or 2m, not {}", what,
                text.empty() ? "nothing" : text);
}

} // namespace sluice::resp

#include "connector/kafka/internal/url_parts.h"

#include <algorithm>
#include <charconv>

namespace sluice::connector::kafka::internal {

namespace {

constexpr std::string_view port_usual = "9092";

int hex_value(char letter) {
    if (letter >= '0' && letter <= '9') {
        return letter - '0';
    }
    auto small = static_cast<char>(letter | 0x20);
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

Result<std::string> decode(std::string_view where, std::string_view text) {
    auto decoded = std::string{};
    for (auto at = std::size_t{0}; at < text.size(); ++at) {
        if (text[at] != '%') {
            decoded += text[at];
            continue;
        }
        auto high = at + 2 < text.size() ? hex_value(text[at + 1]) : -1;
        auto low = at + 2 < text.size() ? hex_value(text[at + 2]) : -1;
        if (high < 0 || low < 0) {
            return fail(Errc::InvalidInput,
                        "{}: expected two hexadecimal digits behind '%'; write "
                        "%25 for the sign itself",
                        where);
        }
        decoded += static_cast<char>(high * 16 + low);
        at += 2;
    }
    // The client library reads texts up to a zero, and keeps lists apart by commas.
    if (std::ranges::any_of(decoded, [](char letter) {
            return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F;
        })) {
        return fail(Errc::InvalidInput, "{}: expected no control characters", where);
    }
    return decoded;
}

bool is_host_letter(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '.' || letter == '-' || letter == '_';
}

Result<std::string> read_broker(std::string_view text) {
    auto is_bracketed = text.starts_with('[');
    auto host_end = is_bracketed ? text.find(']') : text.find(':');
    if (is_bracketed) {
        host_end = host_end == std::string_view::npos ? text.size() : host_end + 1;
    }
    auto host = text.substr(0, host_end);
    auto inside = is_bracketed && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
    auto is_host = !inside.empty() && std::ranges::all_of(inside, [&](char letter) {
        return is_host_letter(letter) || (is_bracketed && (letter == ':' || letter == '%'));
    });
    if (!is_host) {
        return fail(Errc::InvalidInput,
                    "expected host:port, or several of them with commas "
                    "between, an IPv6 address in brackets; found '{}'",
                    text);
    }
    if (host.size() == text.size()) {
        return fmt::format("{}:{}", host, port_usual);
    }
    auto port = text.substr(host.size() + 1);
    auto number = 0;
    auto [end, code] = std::from_chars(port.data(), port.data() + port.size(), number);
    if (text[host.size()] != ':' || code != std::errc{} || end != port.data() + port.size() ||
        number < 1 || number > 65535) {
        return fail(Errc::InvalidInput, "expected a port from 1 to 65535 behind {}, found '{}'",
                    host, port);
    }
    return fmt::format("{}:{}", host, number);
}

Result<void> read_authority(UrlParts& parts, std::string_view text) {
    if (auto at = text.rfind('@'); at != std::string_view::npos) {
        auto person = text.substr(0, at);
        auto colon = person.find(':');
        parts.user = TRY(decode("user", person.substr(0, colon)));
        if (colon != std::string_view::npos) {
            parts.password = TRY(decode("password", person.substr(colon + 1)));
        }
        if (parts.user.empty()) {
            return fail(Errc::InvalidInput, "expected a user before the '@'");
        }
        text.remove_prefix(at + 1);
    }
    while (true) {
        auto comma = text.find(',');
        parts.brokers.push_back(TRY(read_broker(text.substr(0, comma))));
        if (comma == std::string_view::npos) {
            return {};
        }
        text.remove_prefix(comma + 1);
    }
}

Result<void> read_query(UrlParts& parts, std::string_view text) {
    while (!text.empty()) {
        auto pair = text.substr(0, text.find('&'));
        text.remove_prefix(std::min(text.size(), pair.size() + 1));
        auto equals = pair.find('=');
        auto name = TRY(decode("a parameter's name", pair.substr(0, equals)));
        if (equals == std::string_view::npos || name.empty()) {
            return fail(Errc::InvalidInput, "expected name=value behind the '?', found '{}'", name);
        }
        auto value = TRY(decode(name, pair.substr(equals + 1)));
        parts.query.emplace_back(std::move(name), std::move(value));
    }
    return {};
}

} // namespace

Result<UrlParts> split_url(std::string_view url) {
    auto parts = UrlParts{};
    auto scheme = url.substr(0, url.find("://"));
    if (scheme.size() == url.size() || (scheme != "kafka" && scheme != "kafkas")) {
        return fail(Errc::InvalidInput,
                    "expected a URL that begins with kafka:// or, for TLS, "
                    "kafkas://");
    }
    parts.is_secure = scheme == "kafkas";
    url.remove_prefix(scheme.size() + 3);
    auto authority = url.substr(0, url.find_first_of("/?"));
    url.remove_prefix(authority.size());
    TRY(read_authority(parts, authority));
    if (url.starts_with('/')) {
        auto path = url.substr(1, url.find('?') - 1);
        parts.path = TRY(decode("path", path));
        url.remove_prefix(1 + path.size());
    }
    if (url.starts_with('?')) {
        TRY(read_query(parts, url.substr(1)));
    }
    return parts;
}

} // namespace sluice::connector::kafka::internal

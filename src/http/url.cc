#include "http/url.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <simdjson.h>

namespace sluice::http {

namespace {

constexpr auto target_bytes_max = std::size_t{8} << 10U;

int hex_digit(char letter) {
    if (letter >= '0' && letter <= '9') {
        return letter - '0';
    }
    auto lower = static_cast<char>(letter | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool is_plain(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '-' || letter == '.' || letter == '_' ||
           letter == '~';
}

/// Decoded, and text that may be shown and compared.
Result<std::string> decode_text(std::string_view text) {
    auto decoded = TRY(percent_decode(text));
    auto is_control = [](char letter) {
        return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F;
    };
    if (std::ranges::any_of(decoded, is_control)) {
        return fail(Errc::InvalidInput, "\"{}\" has a control character in it", text);
    }
    if (!simdjson::validate_utf8(decoded.data(), decoded.size())) {
        return fail(Errc::InvalidInput, "\"{}\" is not UTF-8 when it is decoded", text);
    }
    return decoded;
}

Result<void> parse_query(std::string_view text, Target& target) {
    while (!text.empty()) {
        auto pair = text.substr(0, text.find('&'));
        text.remove_prefix(std::min(text.size(), pair.size() + 1));
        if (pair.empty()) {
            continue;
        }
        auto equals = pair.find('=');
        auto raw = std::string{equals == std::string_view::npos ? "" : pair.substr(equals + 1)};
        std::ranges::replace(raw, '+', ' ');
        auto name = TRY(decode_text(pair.substr(0, equals)));
        auto value = TRY(decode_text(raw));
        target.query.emplace_back(std::move(name), std::move(value));
    }
    return {};
}

Result<std::uint16_t> parse_port(std::string_view text) {
    auto port = std::uint16_t{0};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc{} || end != text.data() + text.size() || port == 0) {
        return fail(Errc::InvalidInput, "\"{}\" is no port: expected 1 to 65535", text);
    }
    return port;
}

Result<void> parse_authority(std::string_view authority, Url& url) {
    if (authority.contains('@')) {
        return fail(Errc::InvalidInput, "a URL must not hold a name or password");
    }
    auto host = authority;
    if (authority.starts_with('[')) {
        auto end = authority.find(']');
        if (end == std::string_view::npos) {
            return fail(Errc::InvalidInput, "\"{}\" has no closing bracket", authority);
        }
        host = authority.substr(1, end - 1);
        authority.remove_prefix(end + 1);
    } else {
        host = authority.substr(0, authority.find(':'));
        authority.remove_prefix(host.size());
    }
    if (host.empty()) {
        return fail(Errc::InvalidInput, "a URL needs a host");
    }
    url.host = host;
    if (!authority.empty()) {
        if (!authority.starts_with(':')) {
            return fail(Errc::InvalidInput, "\"{}\" stands behind the host", authority);
        }
        url.port = TRY(parse_port(authority.substr(1)));
    }
    return {};
}

} // namespace

const std::string* Target::find(std::string_view name) const {
    auto found = std::ranges::find_if(query, [&](const auto& each) { return each.first == name; });
    return found == query.end() ? nullptr : &found->second;
}

std::string_view origin_form(std::string_view target) {
    for (auto scheme : {std::string_view{"http://"}, std::string_view{"https://"}}) {
        if (target.starts_with(scheme)) {
            auto path = target.find('/', scheme.size());
            return path == std::string_view::npos ? std::string_view{"/"} : target.substr(path);
        }
    }
    return target;
}

Result<Target> parse_target(std::string_view text) {
    if (text.size() > target_bytes_max) {
        return fail(Errc::LimitExceeded, "the path is longer than {} bytes", target_bytes_max);
    }
    text = origin_form(text);
    if (!text.starts_with('/')) {
        return fail(Errc::InvalidInput, "the path must begin with /");
    }
    auto target = Target{};
    auto question = text.find('?');
    if (question != std::string_view::npos) {
        TRY(parse_query(text.substr(question + 1), target));
    }
    auto path = text.substr(1, question == std::string_view::npos ? question : question - 1);
    while (!path.empty()) {
        auto raw = path.substr(0, path.find('/'));
        path.remove_prefix(std::min(path.size(), raw.size() + 1));
        auto segment = TRY(decode_text(raw));
        if (segment.empty() || segment == "." || segment == "..") {
            return fail(Errc::InvalidInput, "the path has an empty segment, . or .. in it");
        }
        target.segments.push_back(std::move(segment));
    }
    return target;
}

std::string Url::authority() const {
    auto shown = host.contains(':') ? fmt::format("[{}]", host) : host;
    auto usual = is_secure ? 443 : 80;
    return port == usual ? shown : fmt::format("{}:{}", shown, port);
}

Result<Url> parse_url(std::string_view text) {
    auto url = Url{};
    auto whole = text;
    auto is_clean = std::ranges::all_of(text, [](char letter) {
        return static_cast<unsigned char>(letter) > 0x20 && letter != 0x7F && letter != '\\';
    });
    if (!is_clean) {
        return fail(Errc::InvalidInput, "a URL holds no spaces, control characters or backslashes");
    }
    if (text.starts_with("https://")) {
        url.is_secure = true;
        url.port = 443;
        text.remove_prefix(8);
    } else if (text.starts_with("http://")) {
        text.remove_prefix(7);
    } else {
        return fail(Errc::InvalidInput, "\"{}\" is no URL: expected http://… or https://…", whole);
    }
    text = text.substr(0, text.find('#'));
    auto end = text.find_first_of("/?");
    TRY(parse_authority(text.substr(0, end), url));
    if (end != std::string_view::npos) {
        url.target = text.substr(end);
        if (url.target.starts_with('?')) {
            url.target.insert(0, 1, '/');
        }
    }
    return url;
}

std::string percent_encode(std::string_view text) {
    auto encoded = std::string{};
    for (auto letter : text) {
        if (is_plain(letter)) {
            encoded += letter;
        } else {
            fmt::format_to(std::back_inserter(encoded), "%{:02X}",
                           static_cast<unsigned char>(letter));
        }
    }
    return encoded;
}

Result<std::string> percent_decode(std::string_view text) {
    auto decoded = std::string{};
    decoded.reserve(text.size());
    for (auto at = std::size_t{0}; at < text.size(); ++at) {
        if (text[at] != '%') {
            decoded += text[at];
            continue;
        }
        auto high = at + 2 < text.size() ? hex_digit(text[at + 1]) : -1;
        auto low = at + 2 < text.size() ? hex_digit(text[at + 2]) : -1;
        if (high < 0 || low < 0) {
            return fail(Errc::InvalidInput, "\"{}\" has a % that is no escape: write %25", text);
        }
        decoded += static_cast<char>(high * 16 + low);
        at += 2;
    }
    return decoded;
}

} // namespace sluice::http

#include "connector/amqp/internal/url.h"

#include <charconv>

#include "base/utf8.h"

namespace sluice::connector::amqp::internal {

namespace {

int hex_digit(char letter) {
    if (letter >= '0' && letter <= '9') {
        return letter - '0';
    }
    auto small = static_cast<char>(letter | 0x20);
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

bool is_control(char letter) {
    auto byte = static_cast<unsigned char>(letter);
    return byte < 0x20 || byte == 0x7F;
}

Result<std::string> decode(std::string_view text, std::string_view part) {
    auto decoded = std::string{};
    for (auto at = std::size_t{0}; at < text.size(); ++at) {
        auto letter = text[at];
        if (letter == '%') {
            auto has_digits = at + 2 < text.size() && hex_digit(text[at + 1]) >= 0 &&
                              hex_digit(text[at + 2]) >= 0;
            if (!has_digits) {
                return fail(Errc::InvalidInput,
                            "the URL's {} has a % without two hex digits: write %25 for a %", part);
            }
            letter = static_cast<char>(hex_digit(text[at + 1]) * 16 + hex_digit(text[at + 2]));
            at += 2;
        }
        if (is_control(letter)) {
            return fail(Errc::InvalidInput, "the URL's {} has a control character", part);
        }
        decoded += letter;
    }
    if (!is_utf8(decoded)) {
        return fail(Errc::InvalidInput, "the URL's {} is not UTF-8", part);
    }
    return decoded;
}

/// What comes before the mark, which goes too; all of it when there is none.
std::string_view cut(std::string_view& text, char mark) {
    auto at = text.find(mark);
    auto before = text.substr(0, at);
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
    return before;
}

Result<void> read_user(Url& url, std::string_view text) {
    auto user = cut(text, ':');
    url.has_user = true;
    url.user = TRY(decode(user, "user"));
    url.password = TRY(decode(text, "password"));
    return {};
}

Result<void> read_host(Url& url, std::string_view text) {
    auto host = std::string_view{};
    if (text.starts_with('[')) {
        auto end = text.find(']');
        if (end == std::string_view::npos) {
            return fail(Errc::InvalidInput, "the URL's host has [ without ]");
        }
        host = text.substr(1, end - 1);
        text.remove_prefix(end + 1);
        if (!text.empty() && !text.starts_with(':')) {
            return fail(Errc::InvalidInput, "expected : and a port behind the ] of the URL's host");
        }
        text.remove_prefix(text.empty() ? 0 : 1);
    } else {
        host = cut(text, ':');
    }
    url.host = TRY(decode(host, "host"));
    if (text.empty()) {
        return {};
    }
    auto port = std::uint16_t{0};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc{} || end != text.data() + text.size() || port == 0) {
        return fail(Errc::InvalidInput, "the URL's port is no number from 1 to 65535");
    }
    url.port = port;
    return {};
}

Result<void> read_query(Url& url, std::string_view text) {
    while (!text.empty()) {
        auto pair = cut(text, '&');
        if (pair.empty()) {
            continue;
        }
        auto name = TRY(decode(cut(pair, '='), "query"));
        auto value = TRY(decode(pair, "query"));
        url.query.emplace_back(std::move(name), std::move(value));
    }
    return {};
}

} // namespace

Result<Url> parse_url(std::string_view text) {
    auto url = Url{};
    auto colon = text.find("://");
    if (colon == std::string_view::npos) {
        return fail(Errc::InvalidInput, "expected a URL such as amqp://HOST:PORT/VHOST");
    }
    url.scheme = text.substr(0, colon);
    text.remove_prefix(colon + 3);
    if (text.find('#') != std::string_view::npos) {
        return fail(Errc::InvalidInput, "the URL has a #, which has no meaning here: write %23");
    }
    auto before_query = cut(text, '?');
    TRY(read_query(url, text));
    auto authority = cut(before_query, '/');
    if (before_query.find('/') != std::string_view::npos) {
        return fail(Errc::InvalidInput,
                    "the URL's path has a second /: write %2F where a virtual host has one");
    }
    url.path = TRY(decode(before_query, "path"));
    if (auto at = authority.rfind('@'); at != std::string_view::npos) {
        TRY(read_user(url, authority.substr(0, at)));
        authority.remove_prefix(at + 1);
    }
    TRY(read_host(url, authority));
    return url;
}

} // namespace sluice::connector::amqp::internal

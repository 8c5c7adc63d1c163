#include "connector/objects/s3_bucket.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.h"
#include "value/time_text.h"

namespace sluice::connector::objects {

namespace http = sluice::http;

namespace {

constexpr auto attempts_max = 4;
constexpr auto pause_first = std::chrono::milliseconds{100};
constexpr auto listed_max = std::size_t{1'000}; // What the service gives at most.

bool is_passing(const Result<http::Response>& response) {
    if (!response) {
        return response.error().code == Errc::Unavailable || response.error().code == Errc::Io;
    }
    return response->status >= 500 || response->status == 429;
}

/// What is between `<Name>` and `</Name>`, from a place on, which is moved behind it.
std::optional<std::string_view> element(std::string_view xml, std::string_view name,
                                        std::size_t& at) {
    auto open = fmt::format("<{}>", name);
    auto close = fmt::format("</{}>", name);
    auto begin = xml.find(open, at);
    auto end = begin == std::string_view::npos ? begin : xml.find(close, begin);
    if (end == std::string_view::npos) {
        return std::nullopt;
    }
    at = end + close.size();
    return xml.substr(begin + open.size(), end - begin - open.size());
}

void append_code_point(std::string& text, std::string_view digits) {
    auto base = digits.starts_with('x') ? 16 : 10;
    digits.remove_prefix(base == 16 ? 1 : 0);
    auto point = std::uint32_t{0};
    std::from_chars(digits.data(), digits.data() + digits.size(), point, base);
    if (point < 0x80) {
        text += static_cast<char>(point);
    } else if (point < 0x800) {
        text +=
            {static_cast<char>(0xC0U | point >> 6U), static_cast<char>(0x80U | (point & 0x3FU))};
    } else {
        text += {static_cast<char>(0xE0U | (point >> 12U & 0xFU)),
                 static_cast<char>(0x80U | (point >> 6U & 0x3FU)),
                 static_cast<char>(0x80U | (point & 0x3FU))};
    }
}

std::string unescaped(std::string_view xml) {
    constexpr auto entities = std::to_array<std::pair<std::string_view, char>>(
        {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}});
    auto text = std::string{};
    while (!xml.empty()) {
        auto plain = xml.substr(0, xml.find('&'));
        text += plain;
        xml.remove_prefix(plain.size());
        auto end = xml.find(';');
        if (xml.empty() || end == std::string_view::npos) {
            return text += xml;
        }
        auto name = xml.substr(1, end - 1);
        const auto* known =
            std::ranges::find(entities, name, [](const auto& e) { return e.first; });
        if (known != entities.end()) {
            text += known->second;
        } else if (name.starts_with('#')) {
            append_code_point(text, name.substr(1));
        }
        xml.remove_prefix(end + 1);
    }
    return text;
}

std::string element_text(std::string_view xml, std::string_view name) {
    auto at = std::size_t{0};
    auto found = element(xml, name, at);
    return found ? unescaped(*found) : std::string{};
}

std::uint64_t number_in(std::string_view text) {
    auto number = std::uint64_t{0};
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

std::string header_of(const http::Response& response, std::string_view name) {
    const auto* found = response.headers.find(name);
    return found == nullptr ? "" : *found;
}

/// Of `Last-Modified`: `Mon, 16 Nov 2026 05:10:11 GMT`.
Time http_date(const std::string& text) {
    auto date = std::tm{};
    return ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date) == nullptr
               ? Time{}
               : Time{std::chrono::seconds{::timegm(&date)}};
}

/// What an answer that is no success means.
std::unexpected<Error> refused(const http::Response& response) {
    auto code = element_text(response.body, "Code");
    auto message = replace_invalid_utf8(element_text(response.body, "Message"));
    if (code == "NoSuchBucket") {
        return fail(Errc::Unavailable, "The specified bucket does not exist");
    }
    if (response.status == 404) {
        return fail(Errc::NotFound, "The specified key does not exist.");
    }
    return fail(response.status == 403 ? Errc::Conflict : Errc::Io, "{} {}: {}", response.status,
                code.empty() ? http::reason_of(response.status) : code, message);
}

/// Every part of a key, with the slashes between them.
std::string encoded_path(std::string_view key) {
    auto path = std::string{};
    while (!key.empty()) {
        auto part = key.substr(0, key.find('/'));
        path += "/" + http::percent_encode(part);
        key.remove_prefix(std::min(key.size(), part.size() + 1));
    }
    return path;
}

} // namespace

Result<std::vector<Bucket::Listed>> read_listing(std::string_view xml) {
    auto at = std::size_t{0};
    if (xml.find("<ListBucketResult") == std::string_view::npos) {
        return fail(Errc::Unsupported,
                    "the answer is no list of objects: expected that of S3's "
                    "ListObjectsV2");
    }
    auto listed = std::vector<Bucket::Listed>{};
    while (auto contents = element(xml, "Contents", at)) {
        auto modified = value::parse_time(element_text(*contents, "LastModified"));
        listed.push_back({.key = element_text(*contents, "Key"),
                          .bytes = number_in(element_text(*contents, "Size")),
                          .modified = modified ? *modified : Time{},
                          .etag = element_text(*contents, "ETag")});
    }
    return listed;
}

std::string S3Bucket::target_of(std::string_view key) const {
    auto base = place_.endpoint.target == "/" ? std::string{} : place_.endpoint.target;
    return fmt::format("{}/{}{}", base, http::percent_encode(place_.bucket), encoded_path(key));
}

Result<http::Response> S3Bucket::send_once(http::Request request, const std::string& target) const {
    auto url = place_.endpoint;
    url.target = target;
    if (!place_.access_key.empty()) {
        http::signing::sign(request, url,
                            {.key = place_.access_key,
                             .secret = place_.secret_key,
                             .region = place_.region,
                             .service = "s3"},
                            clock_.wall());
    }
    return client_.request({.url = std::move(url),
                            .request = std::move(request),
                            .timeout = std::chrono::seconds{60},
                            .on_body = {}});
}

Result<http::Response> S3Bucket::send(http::Request request, const std::string& target) const {
    auto response = send_once(request, target);
    auto pause = pause_first;
    for (auto attempt = 1; attempt < attempts_max && is_passing(response); ++attempt) {
        std::this_thread::sleep_for(pause);
        pause *= 2;
        response = send_once(request, target);
    }
    if (!response) {
        return std::unexpected(response.error());
    }
    return response->status >= 300 && response->status != 416 ? refused(*response)
                                                              : std::move(response);
}

Result<std::string> S3Bucket::read(const std::string& key, std::uint64_t offset,
                                   std::size_t bytes_max) const {
    TRY(check_key(key));
    auto request = http::Request{};
    request.headers.add("Range", fmt::format("bytes={}-{}", offset, offset + bytes_max - 1));
    auto response = TRY(send(std::move(request), target_of(key)));
    if (response.status == 416) {
        return std::string{}; // It ends before.
    }
    auto skipped =
        response.status == 206 ? 0 : std::min<std::uint64_t>(offset, response.body.size());
    return response.body.substr(skipped, bytes_max);
}

Result<Bucket::Listed> S3Bucket::find(const std::string& key) const {
    TRY(check_key(key));
    auto response = TRY(send({.method = http::Method::Head}, target_of(key)));
    return Listed{.key = key,
                  .bytes = number_in(header_of(response, "Content-Length")),
                  .modified = http_date(header_of(response, "Last-Modified")),
                  .etag = header_of(response, "ETag")};
}

Result<std::vector<Bucket::Listed>> S3Bucket::list(const std::string& prefix,
                                                   const std::string& after,
                                                   std::size_t most) const {
    // In this order: so they are signed.
    auto target = fmt::format("{}?list-type=2&max-keys={}&prefix={}{}{}", target_of(""),
                              std::min(most, listed_max), http::percent_encode(prefix),
                              after.empty() ? "" : "&start-after=", http::percent_encode(after));
    auto response = TRY(send({}, target));
    return read_listing(response.body);
}

Result<void> S3Bucket::write(const std::string& key, std::string_view content) {
    TRY(check_key(key));
    auto response =
        TRY(send({.method = http::Method::Put, .body = std::string{content}}, target_of(key)));
    return {};
}

} // namespace sluice::connector::objects

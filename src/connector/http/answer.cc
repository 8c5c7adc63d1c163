#include "connector/http/answer.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.h"
#include "value/json.h"

namespace sluice::connector::http {

namespace {

using event::Answer;
using event::failure;
using sluice::http::Response;

constexpr auto body_shown_bytes = std::size_t{4'096};
constexpr auto kind_bytes_max = std::size_t{100};

/// Without parameters, in lower case.
std::string media_type_of(const Response& response) {
    const auto* header = response.headers.find("Content-Type");
    auto type = header == nullptr ? std::string{} : header->substr(0, header->find(';'));
    type.resize(type.find_last_not_of(' ') + 1);
    std::ranges::transform(type, type.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    return type;
}

bool is_json(std::string_view type) {
    return type == "application/json" || type == "text/json" || type.ends_with("+json");
}

Value detail_of(const Response& response) {
    auto body = std::string_view{response.body}.substr(0, body_shown_bytes);
    return Value::object({{"status", response.status}, {"body", replace_invalid_utf8(body)}});
}

/// Seconds or a date (RFC 9110, 10.2.3); zero when it says neither.
Nanos retry_after_of(const Response& response, Time now) {
    const auto* header = response.headers.find("Retry-After");
    if (header == nullptr) {
        return Nanos{0};
    }
    auto seconds = std::int64_t{0};
    const auto* end = header->data() + header->size();
    auto [stop, error] = std::from_chars(header->data(), end, seconds);
    constexpr auto seconds_max = std::int64_t{1'000'000};
    if (error == std::errc{} && stop == end) {
        return std::chrono::seconds{std::clamp<std::int64_t>(seconds, 0, seconds_max)};
    }
    auto date = std::tm{};
    const auto* rest = ::strptime(header->c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
    if (rest == nullptr || *rest != '\0') {
        return Nanos{0};
    }
    return std::max(Nanos{0}, Time{std::chrono::seconds{::timegm(&date)}} - now);
}

std::string_view kind_of(int status) {
    if (status == 429 || status == 503) {
        return "busy";
    }
    if (status == 408 || status == 425 || status >= 500) {
        return "failed";
    }
    return status >= 400 ? "rejected" : "bad_output";
}

Answer error_of(const Response& response, Time now) {
    auto answer = failure(kind_of(response.status),
                          fmt::format("the function answered {} {}", response.status,
                                      sluice::http::reason_of(response.status)),
                          detail_of(response));
    answer.retry_after = retry_after_of(response, now);
    auto body = is_json(media_type_of(response)) ? value::parse_json(response.body)
                                                 : Result<Value>{Value{}};
    if (!body || !body->is_map()) {
        return answer;
    }
    // A function that says what went wrong is quoted.
    const auto* kind = body->find("kind");
    if (kind != nullptr && kind->is_string() && kind->size() > 0 &&
        kind->size() <= kind_bytes_max) {
        answer.error_kind = kind->as_string();
    }
    const auto* message = body->find("message");
    message = message == nullptr ? body->find("detail") : message;
    if (message != nullptr && message->is_string()) {
        answer.error_message = message->as_string();
    }
    return answer;
}

Answer result_of(const Response& response) {
    auto answer = Answer{};
    auto type = media_type_of(response);
    if (response.body.empty()) {
        return answer;
    }
    auto is_text = is_utf8(response.body);
    if (is_json(type) || type.empty()) {
        auto parsed = value::parse_json(response.body);
        if (!parsed && !type.empty()) {
            return failure("bad_output",
                           fmt::format("the function answered {} that is none: {}", type,
                                       parsed.error().message),
                           detail_of(response));
        }
        answer.result = parsed    ? *std::move(parsed)
                        : is_text ? Value{response.body}
                                  : Value::bytes(response.body);
    } else {
        answer.result = is_text && type.starts_with("text/") ? Value{response.body}
                                                             : Value::bytes(response.body);
    }
    return answer;
}

} // namespace

Answer answer_of(const Response& response, Time now) {
    return response.status >= 200 && response.status < 300 ? result_of(response)
                                                           : error_of(response, now);
}

Answer answer_of(const Error& error) {
    switch (error.code) {
        case Errc::LimitExceeded: return failure("timeout", error.message);
        case Errc::Unavailable: return failure("unreachable", error.message);
        case Errc::InvalidInput:
            return failure("forbidden_address",
                           error.message + ": an operator may allow private addresses");
        case Errc::Unsupported: return failure("bad_output", error.message);
        default: return failure("connection", error.message);
    }
}

} // namespace sluice::connector::http

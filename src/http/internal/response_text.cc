#include "http/internal/response_text.h"

#include <fmt/format.h>

namespace sluice::http::internal {

namespace {

/// A field cannot smuggle another one in.
void append_field(std::string& text, std::string_view name, std::string_view value) {
    text += name;
    text += ": ";
    for (auto letter : value) {
        text += letter == '\r' || letter == '\n' || letter == '\0' ? ' ' : letter;
    }
    text += "\r\n";
}

} // namespace

std::string head_text(const Response& response, const ResponseShape& shape) {
    auto text = std::string{};
    text.reserve(256);
    fmt::format_to(std::back_inserter(text), "HTTP/1.1 {} {}\r\n", response.status,
                   reason_of(response.status));
    for (const auto& [name, value] : response.headers.all()) {
        append_field(text, name, value);
    }
    auto is_bodiless = response.status == 204 || response.status == 304 || response.status < 200;
    if (!shape.has_length) {
        text += "Transfer-Encoding: chunked\r\n";
    } else if (!is_bodiless) {
        fmt::format_to(std::back_inserter(text), "Content-Length: {}\r\n", response.body.size());
    }
    if (!shape.is_kept_alive) {
        text += "Connection: close\r\n";
    }
    text += "\r\n";
    return text;
}

std::string chunk_text(std::string_view bytes) {
    auto text = fmt::format("{:x}\r\n", bytes.size());
    text += bytes;
    text += "\r\n";
    return text;
}

} // namespace sluice::http::internal

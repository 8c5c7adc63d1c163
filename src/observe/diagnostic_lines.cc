#include "observe/diagnostic_lines.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <string>

#include <fmt/chrono.h>

namespace sluice::observe {
namespace {

std::string text_of(Time time) {
    auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    auto millis = std::chrono::floor<std::chrono::milliseconds>(time - seconds).count();
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                       fmt::gmtime(seconds.time_since_epoch().count()), millis);
}

void append_quoted(std::string_view text, std::string& out) {
    out.push_back('"');
    for (auto byte : text) {
        if (byte == '"' || byte == '\\') {
            out.push_back('\\');
            out.push_back(byte);
        } else if (byte == '\n') {
            out += "\\n";
        } else if (static_cast<unsigned char>(byte) < 0x20) {
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(byte));
        } else {
            out.push_back(byte);
        }
    }
    out.push_back('"');
}

bool is_plain(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](unsigned char byte) {
        return byte > ' ' && byte != '"' && byte != '=' && byte != 0x7F;
    });
}

std::string to_text(Time time, Level level, std::string_view message,
                    std::span<const Field> fields) {
    auto line = fmt::format("{} {:5} {}", text_of(time), to_string(level), message);
    for (const auto& field : fields) {
        line += fmt::format(" {}=", field.name);
        if (is_plain(field.value)) {
            line += field.value;
        } else {
            append_quoted(field.value, line);
        }
    }
    return line + '\n';
}

std::string to_json(Time time, Level level, std::string_view message,
                    std::span<const Field> fields) {
    auto line =
        fmt::format(R"({{"time":"{}","level":"{}","message":)", text_of(time), to_string(level));
    append_quoted(message, line);
    for (const auto& field : fields) {
        line.push_back(',');
        append_quoted(field.name, line);
        line.push_back(':');
        if (field.is_literal) {
            line += field.value;
        } else {
            append_quoted(field.value, line);
        }
    }
    return line + "}\n";
}

} // namespace

DiagnosticLines::DiagnosticLines(const Clock& clock, Format format, Level least, int descriptor)
    : Diagnostics(least), clock_(clock), format_(format), descriptor_(descriptor) {}

void DiagnosticLines::write(Level level, std::string_view message, std::span<const Field> fields) {
    auto to_line = format_ == Format::Json ? to_json : to_text;
    auto line = to_line(clock_.wall(), level, message, fields);
    auto rest = std::string_view{line};

    auto lock = std::lock_guard{mutex_};
    while (!rest.empty()) {
        auto size = ::write(descriptor_, rest.data(), rest.size());
        if (size < 0 && errno != EINTR) {
            return;
        }
        rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    }
}

} // namespace sluice::observe

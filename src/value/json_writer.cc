#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <boost/container/small_vector.hpp>
#include <simdjson.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "value/json.h"
#include "value/time_text.h"

namespace sluice::value {

namespace {

enum class Layout : std::uint8_t { Compact, Indented };

template <typename Number, typename... Format>
void write_number(Number number, std::string& out, Format... format) {
    auto digits = std::array<char, 32>{};
    auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, format...).ptr;
    out.append(digits.data(), end);
}

// A double keeps a point or an exponent, so that it is read as a double again.
void write_double(double number, std::string& out) {
    if (!std::isfinite(number)) {
        out += "null";
        return;
    }
    // The bounds within which ECMAScript writes no exponent.
    auto magnitude = std::abs(number);
    auto is_plain = magnitude == 0 || (magnitude >= 1e-6 && magnitude < 1e21);
    auto start = out.size();
    write_number(number, out, is_plain ? std::chars_format::fixed : std::chars_format::scientific);
    if (out.find_first_of(".e", start) == std::string::npos) {
        out += ".0";
    }
}

// Seconds alone, as protobuf's JSON has it: "-1.5s".
void write_duration(Nanos duration, std::string& out) {
    auto count = duration.count();
    auto magnitude =
        count < 0 ? 0 - static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
    out += count < 0 ? "-" : "";
    write_number(magnitude / 1'000'000'000, out);
    auto fraction = magnitude % 1'000'000'000;
    if (fraction != 0) {
        auto digits = fmt::format(".{:09}", fraction);
        out.append(digits, 0, digits.find_last_not_of('0') + 1);
    }
    out += 's';
}

constexpr bool must_escape(unsigned char byte) {
    return byte < 0x20 || byte == '"' || byte == '\\';
}

void write_escape(unsigned char byte, std::string& out) {
    switch (byte) {
        case '"': out += "\\\""; return;
        case '\\': out += "\\\\"; return;
        case '\b': out += "\\b"; return;
        case '\f': out += "\\f"; return;
        case '\n': out += "\\n"; return;
        case '\r': out += "\\r"; return;
        case '\t': out += "\\t"; return;
        default: fmt::format_to(std::back_inserter(out), "\\u{:04x}", byte);
    }
}

void write_escaped(std::string_view text, std::string& out) {
    auto start = std::size_t{0};
    for (auto at = std::size_t{0}; at < text.size(); ++at) {
        auto byte = static_cast<unsigned char>(text[at]);
        if (must_escape(byte)) {
            out.append(text, start, at - start);
            write_escape(byte, out);
            start = at + 1;
        }
    }
    out.append(text, start);
}

/// Whether eight bytes are ASCII that stands in JSON as it is.
bool is_plain(std::uint64_t word) {
    constexpr auto each = std::uint64_t{0x0101'0101'0101'0101};
    constexpr auto highest = each * 0x80;
    auto mark_below = [](std::uint64_t bytes, unsigned char bound) {
        return (bytes - each * bound) & ~bytes; // In the highest bit of a byte.
    };
    auto special = mark_below(word, ' ') | mark_below(word ^ (each * '"'), 1) |
                   mark_below(word ^ (each * '\\'), 1);
    return ((special | word) & highest) == 0;
}

/// As most texts are.
bool is_plain(std::string_view text) {
    auto word = std::uint64_t{0};
    for (; text.size() >= sizeof(word); text.remove_prefix(sizeof(word))) {
        std::memcpy(&word, text.data(), sizeof(word));
        if (!is_plain(word)) {
            return false;
        }
    }
    return std::ranges::none_of(text, [](char each) {
        auto byte = static_cast<unsigned char>(each);
        return byte >= 0x80 || must_escape(byte);
    });
}

// Most texts are ASCII, which needs no validator.
bool is_utf8(std::string_view text) {
    auto seen = 0U;
    for (auto byte : text) {
        seen |= static_cast<unsigned char>(byte);
    }
    return seen < 0x80 || simdjson::validate_utf8(text.data(), text.size());
}

void write_scalar(const Value& value, std::string& out) {
    switch (value.kind()) {
        case Kind::Bool: out += value.as_bool() ? "true" : "false"; return;
        case Kind::Int: write_number(value.as_int(), out); return;
        case Kind::Uint: write_number(value.as_uint(), out); return;
        case Kind::Double: write_double(value.as_double(), out); return;
        case Kind::String: write_json_string(value.as_string(), out); return;
        case Kind::Bytes:
            out += '"';
            base64_encode(value.as_bytes(), out);
            out += '"';
            return;
        case Kind::Timestamp: write_json_string(format_time(value.as_timestamp()), out); return;
        case Kind::Duration:
            out += '"';
            write_duration(value.as_duration(), out);
            out += '"';
            return;
        default: out += "null";
    }
}

/// Writes a value without recursion: what is open lies on a stack of its own.
class Writer {
public:
    Writer(Layout layout, std::string& out) : layout_(layout), out_(out) {}

    void write(const Value& value) {
        begin(value);
        while (!open_.empty()) {
            step();
        }
    }

private:
    struct Open {
        const Value* container;
        std::size_t at = 0;
    };

    void begin(const Value& value) {
        if (!value.is_list() && !value.is_map()) {
            write_scalar(value, out_);
            return;
        }
        out_ += value.is_list() ? '[' : '{';
        open_.push_back({&value});
    }

    void step() {
        auto& [container, at] = open_.back();
        if (at == container->size()) {
            end();
            return;
        }
        if (at > 0) {
            out_ += ',';
        }
        break_line();
        auto place = at++;
        if (container->is_list()) {
            begin(container->as_list()[place]);
            return;
        }
        const auto& member = container->as_map()[place];
        write_json_string(member.key, out_);
        out_ += layout_ == Layout::Indented ? ": " : ":";
        begin(member.value);
    }

    void end() {
        auto [container, at] = open_.back();
        open_.pop_back();
        if (at > 0) {
            break_line();
        }
        out_ += container->is_list() ? ']' : '}';
    }

    void break_line() {
        if (layout_ == Layout::Indented) {
            out_ += '\n';
            out_.append(open_.size() * 2, ' ');
        }
    }

    Layout layout_;
    std::string& out_;
    boost::container::small_vector<Open, 8> open_; // Deeper ones are rare.
};

} // namespace

void write_json(const Value& value, std::string& out) {
    Writer{Layout::Compact, out}.write(value);
}

std::string to_json(const Value& value) {
    auto out = std::string{};
    write_json(value, out);
    return out;
}

std::string to_pretty_json(const Value& value) {
    auto out = std::string{};
    Writer{Layout::Indented, out}.write(value);
    return out;
}

void write_json_string(std::string_view text, std::string& out) {
    if (is_plain(text)) {
        out += '"';
        out += text;
        out += '"';
        return;
    }
    out += '"';
    // JSON is UTF-8: what is not becomes the replacement character instead of a broken document.
    if (is_utf8(text)) {
        write_escaped(text, out);
    } else {
        write_escaped(replace_invalid_utf8(text), out);
    }
    out += '"';
}

} // namespace sluice::value

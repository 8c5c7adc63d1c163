#include "resp/parser.h"

#include <charconv>
#include <cstring>

namespace sluice::resp {
namespace {

Node text_node(Kind kind, std::size_t begin, std::size_t size) {
    return {.kind = kind, .begin = begin, .number = static_cast<std::int64_t>(size)};
}

} // namespace

Result<bool> Parser::feed(std::string_view data) {
    for (;;) {
        switch (TRY(read_element(data))) {
            case Step::More: return false;
            case Step::Done: return true;
            case Step::Element: break;
        }
    }
}

void Parser::reset() {
    nodes_.clear();
    open_.clear();
    at_ = 0;
    needed_ = 0;
}

Result<Parser::Step> Parser::read_element(std::string_view data) {
    auto line = TRY(read_line(data));
    if (!line.is_whole) {
        needed_ = data.size() + 1;
        return Step::More;
    }
    if (nodes_.size() >= limits_.elements_max) {
        return fail(Errc::LimitExceeded, "a reply of more than {} elements", limits_.elements_max);
    }
    auto mark = data[at_];
    switch (mark) {
        case '$': return read_bulk(data, line, Kind::Text);
        case '=': return read_bulk(data, line, Kind::Text);
        case '!': return read_bulk(data, line, Kind::Error);
        case '*':
        case '~': return read_list(line, Kind::List, 1);
        case '>': return read_list(line, Kind::Push, 1);
        case '%': return read_list(line, Kind::Map, 2);
        case '|': return read_list(line, Kind::Null, 2);
        default: return read_scalar(mark, line);
    }
}

Result<Parser::Step> Parser::read_scalar(char mark, const Line& line) {
    switch (mark) {
        case '+': return finish(text_node(Kind::Text, at_ + 1, line.text.size()), line.next);
        case '-': return finish(text_node(Kind::Error, at_ + 1, line.text.size()), line.next);
        case ',': return finish(text_node(Kind::Double, at_ + 1, line.text.size()), line.next);
        case '(': return finish(text_node(Kind::Big, at_ + 1, line.text.size()), line.next);
        case ':': {
            auto number = TRY(read_number(line.text));
            return finish({.kind = Kind::Number, .number = number}, line.next);
        }
        case '_': return finish({.kind = Kind::Null}, line.next);
        case '#':
            if (line.text != "t" && line.text != "f") {
                return fail(Errc::Corrupt, "a bool that is neither t nor f at byte {}", at_);
            }
            return finish({.kind = Kind::Bool, .number = line.text == "t" ? 1 : 0}, line.next);
        default:
            return fail(Errc::Corrupt,
                        "byte {:#04x} where a reply should begin: this is no Redis server, or it "
                        "wants TLS",
                        static_cast<unsigned char>(mark));
    }
}

Result<Parser::Step> Parser::read_bulk(std::string_view data, const Line& line, Kind kind) {
    auto size = TRY(read_number(line.text));
    if (size == -1) {
        return finish({.kind = Kind::Null}, line.next);
    }
    if (size < 0) {
        return fail(Errc::Corrupt, "a text of {} bytes at byte {}", size, at_);
    }
    auto bytes = static_cast<std::size_t>(size);
    if (bytes > limits_.reply_bytes_max - std::min(line.next + 2, limits_.reply_bytes_max)) {
        return fail(Errc::LimitExceeded, "a reply of more than {} bytes", limits_.reply_bytes_max);
    }
    auto end = line.next + bytes;
    if (data.size() < end + 2) {
        needed_ = end + 2;
        return Step::More;
    }
    if (data[end] != '\r' || data[end + 1] != '\n') {
        return fail(Errc::Corrupt, "a text of {} bytes does not end there, at byte {}", bytes, at_);
    }
    auto begin = line.next;
    // A verbatim string has three letters of its format and a colon before it.
    if (data[at_] == '=' && bytes >= 4 && data[begin + 3] == ':') {
        begin += 4;
        bytes -= 4;
    }
    return finish(text_node(kind, begin, bytes), end + 2);
}

Result<Parser::Step> Parser::read_list(const Line& line, Kind kind, std::size_t parts) {
    auto count = TRY(read_number(line.text));
    if (count == -1 && kind != Kind::Null) {
        return finish({.kind = Kind::Null}, line.next);
    }
    if (count < 0) {
        return fail(Errc::Corrupt, "a list of {} items at byte {}", count, at_);
    }
    auto items = static_cast<std::size_t>(count);
    if (items > limits_.elements_max / parts) {
        return fail(Errc::LimitExceeded, "a reply of more than {} elements", limits_.elements_max);
    }
    if (open_.size() >= limits_.depth_max) {
        return fail(Errc::LimitExceeded, "a reply deeper than {}", limits_.depth_max);
    }
    // Attributes go before what they are about; nobody asks for them here.
    auto is_attribute = kind == Kind::Null;
    if (items == 0 && is_attribute) {
        at_ = line.next;
        return Step::Element;
    }
    auto node = Node{.kind = kind, .begin = items * parts};
    if (items == 0) {
        return finish(node, line.next);
    }
    open_.push_back({static_cast<std::uint32_t>(nodes_.size()), items * parts, is_attribute});
    nodes_.push_back(node);
    at_ = line.next;
    return Step::Element;
}

Result<Parser::Line> Parser::read_line(std::string_view data) const {
    if (at_ >= data.size()) {
        return Line{{}, 0, false};
    }
    auto rest = data.substr(at_ + 1);
    const auto* end = static_cast<const char*>(std::memchr(rest.data(), '\r', rest.size()));
    auto size = end == nullptr ? rest.size() : static_cast<std::size_t>(end - rest.data());
    if (size > limits_.line_bytes_max) {
        return fail(Errc::LimitExceeded, "a line of more than {} bytes at byte {}",
                    limits_.line_bytes_max, at_);
    }
    if (at_ > limits_.reply_bytes_max) {
        return fail(Errc::LimitExceeded, "a reply of more than {} bytes", limits_.reply_bytes_max);
    }
    if (size + 1 >= rest.size()) {
        return Line{{}, 0, false};
    }
    if (rest[size + 1] != '\n') {
        return fail(Errc::Corrupt, "a line that does not end with CR LF at byte {}", at_);
    }
    return Line{rest.substr(0, size), at_ + 1 + size + 2, true};
}

Result<std::int64_t> Parser::read_number(std::string_view text) const {
    auto number = std::int64_t{0};
    if (text.starts_with('+')) {
        text.remove_prefix(1);
    }
    auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc{} || end != text.data() + text.size()) {
        return fail(Errc::Corrupt, "no number where one should stand, at byte {}", at_);
    }
    return number;
}

Parser::Step Parser::finish(const Node& node, std::size_t next) {
    nodes_.push_back(node);
    nodes_.back().end = static_cast<std::uint32_t>(nodes_.size());
    at_ = next;
    return close();
}

Parser::Step Parser::close() {
    while (!open_.empty()) {
        auto& list = open_.back();
        if (--list.missing > 0) {
            return Step::Element;
        }
        if (list.is_attribute) {
            nodes_.resize(list.node);
            open_.pop_back();
            return Step::Element;
        }
        nodes_[list.node].end = static_cast<std::uint32_t>(nodes_.size());
        open_.pop_back();
    }
    return Step::Done;
}

} // namespace sluice::resp

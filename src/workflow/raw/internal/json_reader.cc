#include <charconv>
#include <optional>

#include "value/json.h"
#include "workflow/raw/internal/limits.h"
#include "workflow/raw/internal/readers.h"
#include "workflow/raw/internal/screen.h"

namespace sluice::workflow::raw::internal {

namespace {

/// The parser names the byte in its message: "not JSON at byte 17: …".
Place place_in(std::string_view message, std::string_view text) {
    constexpr auto mark = std::string_view{"at byte "};
    auto found = message.find(mark);
    if (found == std::string_view::npos) {
        return {};
    }
    auto digits = message.substr(found + mark.size());
    auto byte = std::size_t{0};
    std::from_chars(digits.data(), digits.data() + digits.size(), byte);
    return place_at(text, byte);
}

/// Walks a text that is known to be JSON.
class Walker {
public:
    Walker(std::string_view text, Tree& tree) : text_(text), tree_(tree) {}

    void walk() {
        while (at_ < text_.size() && !tree_.has_stopped()) {
            switch (text_[at_]) {
                case '\n':
                    line_start_ = at_ + 1;
                    ++line_;
                    [[fallthrough]];
                case ' ':
                case '\t':
                case '\r':
                case ',':
                case ':': ++at_; break;
                case '{': begin(Shape::Map); break;
                case '[': begin(Shape::List); break;
                case '}':
                case ']':
                    tree_.end();
                    ++at_;
                    break;
                default: take_scalar();
            }
        }
    }

private:
    Place place() const {
        return {.line = line_, .column = static_cast<int>(at_ - line_start_) + 1};
    }

    void begin(Shape shape) {
        tree_.begin(shape, place());
        ++at_;
    }

    /// The bytes of the text or word that begins here.
    std::string_view scalar() const {
        if (text_[at_] != '"') {
            return text_.substr(at_, text_.find_first_of(" \t\r\n,:{}[]", at_) - at_);
        }
        auto end = at_ + 1;
        while (text_[end] != '"') {
            end += text_[end] == '\\' ? 2 : 1;
        }
        return text_.substr(at_, end + 1 - at_);
    }

    void take_scalar() {
        auto bytes = scalar();
        // Most are texts as they stand; the whole is known to be JSON.
        auto is_plain = bytes.front() == '"' && !bytes.contains('\\');
        auto value = is_plain ? Value{bytes.substr(1, bytes.size() - 2)}
                              : value::parse_json(bytes).value_or(Value{});
        if (tree_.expects_key()) {
            tree_.set_key(place(), std::string{value.as_string()});
        } else {
            tree_.add(place(), {.value = std::move(value)});
        }
        at_ += bytes.size();
    }

    std::string_view text_;
    Tree& tree_;
    std::size_t at_ = 0;
    std::size_t line_start_ = 0;
    int line_ = 1;
};

} // namespace

void read_json(std::string_view text, Tree& tree) {
    auto parsed =
        value::parse_json(text, {.bytes_max = text_bytes_max, .depth_max = tree.depth_max()});
    if (!parsed) {
        const auto& message = parsed.error().message;
        tree.stop(place_in(message, text), message);
        return;
    }
    Walker{text, tree}.walk();
}

} // namespace sluice::workflow::raw::internal

#include "value/internal/json_fault.h"

#include <string>

namespace sluice::value {

namespace {

constexpr auto digits = std::string_view{"0123456789"};

/// Steps through a text as far as the grammar goes. Functions that return bool stay at the fault.
class GrammarWalk {
public:
    explicit GrammarWalk(std::string_view text) : text_(text) {}

    std::optional<std::size_t> find_fault() {
        do {
            if (!value()) {
                return at_;
            }
        } while (!open_.empty());
        skip_space();
        return at_ == text_.size() ? std::nullopt : std::optional{at_};
    }

private:
    /// A scalar or the begin of a container, then whatever closes and separates behind it.
    bool value() {
        skip_space();
        if (take("[")) {
            open_ += ']';
            skip_space();
            return next_is(']') ? close() : true;
        }
        if (take("{")) {
            open_ += '}';
            skip_space();
            return next_is('}') ? close() : key();
        }
        return scalar() && close();
    }

    bool close() {
        skip_space();
        while (!open_.empty() && next_is(open_.back())) {
            ++at_;
            open_.pop_back();
            skip_space();
        }
        if (open_.empty()) {
            return true;
        }
        return take(",") && (open_.back() == ']' || key());
    }

    bool key() {
        skip_space();
        if (!string()) {
            return false;
        }
        skip_space();
        return take(":");
    }

    bool scalar() {
        if (next_is('"')) {
            return string();
        }
        return word("true") || word("false") || word("null") || number();
    }

    bool number() {
        take("-");
        auto is_whole = take("0") || take_all(digits);
        if (!is_whole || (take(".") && !take_all(digits))) {
            return false;
        }
        if (!take("eE")) {
            return true;
        }
        take("+-");
        return take_all(digits);
    }

    bool string() {
        if (!take("\"")) {
            return false;
        }
        while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) >= 0x20) {
            if (take("\"")) {
                return true;
            }
            if (!take("\\")) {
                ++at_;
            } else if (!escape()) {
                return false;
            }
        }
        return false;
    }

    bool escape() {
        if (!take("u")) {
            return take("\"\\/bfnrt");
        }
        auto is_hex = true;
        for (auto digit = 0; digit < 4 && is_hex; ++digit) {
            is_hex = take("0123456789abcdefABCDEF");
        }
        return is_hex;
    }

    bool word(std::string_view expected) {
        if (!text_.substr(at_).starts_with(expected)) {
            return false;
        }
        at_ += expected.size();
        return true;
    }

    bool next_is(char letter) const { return at_ < text_.size() && text_[at_] == letter; }

    bool take(std::string_view letters) {
        if (at_ == text_.size() || letters.find(text_[at_]) == std::string_view::npos) {
            return false;
        }
        ++at_;
        return true;
    }

    bool take_all(std::string_view letters) {
        auto start = at_;
        while (take(letters)) {
        }
        return at_ > start;
    }

    void skip_space() { take_all(" \t\n\r"); }

    std::string_view text_;
    std::size_t at_ = 0;
    std::string open_; ///< The bracket that closes each open container.
};

} // namespace

std::optional<std::size_t> find_json_fault(std::string_view text) {
    return GrammarWalk{text}.find_fault();
}

} // namespace sluice::value

#include "expr/jsonpath/internal/regexp.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/utf8.h"

namespace sluice::expr::jsonpath::internal {
namespace {

constexpr auto assigned = std::string_view{"\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Z}\\p{C}"};

/// Checks the grammar of RFC 9485 on its way: what is none of it is no match, never a guess.
class Translator {
public:
    explicit Translator(std::string_view text) : text_{text} {}

    std::optional<std::string> run() {
        if (!is_utf8(text_) || !alternatives(0) || at_ != text_.size()) {
            return std::nullopt;
        }
        return std::move(out_);
    }

private:
    static constexpr std::size_t nesting_max = 64;

    bool is_next(char c) const { return at_ < text_.size() && text_[at_] == c; }

    void copy(std::size_t bytes = 1) {
        out_ += text_.substr(at_, bytes);
        at_ += bytes;
    }

    bool take(char c) {
        if (!is_next(c)) {
            return false;
        }
        copy();
        return true;
    }

    bool alternatives(std::size_t depth) {
        if (depth > nesting_max) {
            return false;
        }
        do {
            while (at_ < text_.size() && !is_next('|') && !is_next(')')) {
                if (!atom(depth) || !quantifier()) {
                    return false;
                }
            }
        } while (take('|'));
        return true;
    }

    bool atom(std::size_t depth) {
        switch (text_[at_]) {
            case '(':
                ++at_;
                out_ += "(?:";
                return alternatives(depth + 1) && take(')');
            case '.':
                ++at_;
                out_ += "[^\\n\\r]";
                return true;
            case '[': return char_class();
            case '\\': return escape(false);
            case '*':
            case '+':
            case '?':
            case ']':
            case '{':
            case '}': return false;
            default: copy(decode_utf8(text_.substr(at_)).size); return true;
        }
    }

    bool quantifier() {
        if (take('*') || take('+') || take('?')) {
            return true;
        }
        if (!take('{')) {
            return true;
        }
        if (!digits()) {
            return false;
        }
        if (take(',')) {
            digits();
        }
        return take('}');
    }

    bool digits() {
        auto begin = at_;
        while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
            copy();
        }
        return at_ > begin;
    }

    bool char_class() {
        copy();
        take('^');
        auto count = std::size_t{0};
        if (is_next('-')) {
            ++at_;
            out_ += "\\-";
            ++count;
        }
        while (at_ < text_.size() && !is_next(']')) {
            if (is_next('-')) {
                ++at_;
                out_ += "\\-";
                return is_next(']') && take(']');
            }
            if (!class_item()) {
                return false;
            }
            ++count;
        }
        return count > 0 && take(']');
    }

    bool class_item() {
        auto is_category = is_next('\\') && at_ + 1 < text_.size() &&
                           (text_[at_ + 1] == 'p' || text_[at_ + 1] == 'P');
        if (is_category) {
            return escape(true);
        }
        if (!class_char()) {
            return false;
        }
        auto is_range = is_next('-') && at_ + 1 < text_.size() && text_[at_ + 1] != ']';
        return !is_range || (take('-') && class_char());
    }

    bool class_char() {
        if (is_next('\\')) {
            return escape(true);
        }
        if (at_ == text_.size() || is_next('[') || is_next(']') || is_next('-')) {
            return false;
        }
        auto size = decode_utf8(text_.substr(at_)).size;
        if (size == 1 && (is_next('^') || is_next('&') || is_next('~'))) {
            out_ += '\\';
        }
        copy(size);
        return true;
    }

    bool escape(bool is_in_class) {
        constexpr auto taken = std::string_view{"()*+-.?[\\]^nrt{|}"};
        if (at_ + 1 == text_.size()) {
            return false;
        }
        auto c = text_[at_ + 1];
        if (c == 'p' || c == 'P') {
            return category(is_in_class);
        }
        if (taken.find(c) == std::string_view::npos) {
            return false;
        }
        copy(2);
        return true;
    }

    bool category(bool is_in_class) {
        constexpr auto names = std::to_array<std::string_view>(
            {"C",  "Cc", "Cf", "Cn", "Co", "L",  "Ll", "Lm", "Lo", "Lt", "Lu", "M",
             "Mc", "Me", "Mn", "N",  "Nd", "Nl", "No", "P",  "Pc", "Pd", "Pe", "Pf",
             "Pi", "Po", "Ps", "S",  "Sc", "Sk", "Sm", "So", "Z",  "Zl", "Zp", "Zs"});
        auto end = text_.find('}', at_);
        if (at_ + 2 >= text_.size() || text_[at_ + 2] != '{' || end == std::string_view::npos) {
            return false;
        }
        auto name = text_.substr(at_ + 3, end - at_ - 3);
        if (std::ranges::find(names, name) == names.end()) {
            return false;
        }
        if (name == "Cn") {
            return unassigned(text_[at_ + 1] == 'p', is_in_class, end);
        }
        copy(end + 1 - at_);
        return true;
    }

    /// RE2 has no name for what is not assigned, but the complement of all others.
    bool unassigned(bool is_wanted, bool is_in_class, std::size_t end) {
        if (is_in_class && is_wanted) {
            return false;
        }
        out_ += is_in_class ? "" : is_wanted ? "[^" : "[";
        out_ += assigned;
        out_ += is_in_class ? "" : "]";
        at_ = end + 1;
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::string out_;
};

} // namespace

std::optional<std::string> translate_iregexp(std::string_view pattern) {
    return Translator{pattern}.run();
}

std::shared_ptr<const re2::RE2> compile_regexp(std::string_view pattern) {
    constexpr auto memory_max = std::int64_t{4} * 1024 * 1024;
    auto options = re2::RE2::Options{};
    options.set_log_errors(false);
    options.set_max_mem(memory_max);
    options.set_never_capture(true);
    auto made =
        std::make_shared<re2::RE2>(re2::StringPiece{pattern.data(), pattern.size()}, options);
    return made->ok() ? made : nullptr;
}

} // namespace sluice::expr::jsonpath::internal

#include "expr/cel/runtime/format.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "expr/cel/runtime/text_of.h"

namespace sluice::expr::cel::runtime {
namespace {

constexpr auto precision_max = 100;

class Formatter {
public:
    Formatter(Machine& machine, std::string_view pattern, const Cell& arguments)
        : machine_{machine}, rest_{pattern}, arguments_{arguments} {}

    Cell run() {
        while (!rest_.empty() && !fault_) {
            auto literal = rest_.substr(0, rest_.find('%'));
            rest_.remove_prefix(literal.size());
            append(literal);
            if (!rest_.empty()) {
                rest_.remove_prefix(1);
                clause();
            }
        }
        return fault_ ? *fault_ : machine_.text(out_);
    }

private:
    void append(std::string_view text) {
        if (out_.size() + text.size() > machine_.meter().text_bytes_max() ||
            !machine_.meter().spend_text(text.size())) {
            fault_ = machine_.budget_fault();
            return;
        }
        out_ += text;
    }

    void refuse(Cell fault) {
        if (!fault_) {
            fault_ = fault;
        }
    }

    /// `.3`, or -1.
    int precision() {
        if (!rest_.starts_with('.')) {
            return -1;
        }
        rest_.remove_prefix(1);
        auto number = 0;
        auto digits = std::size_t{0};
        while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9' && digits < 4) {
            number = number * 10 + (rest_.front() - '0');
            rest_.remove_prefix(1);
            ++digits;
        }
        if (digits == 0 || number > precision_max) {
            refuse(machine_.fault("bad_format", "expected a precision of at most {} behind %.",
                                  precision_max));
        }
        return number;
    }

    void clause() {
        if (rest_.starts_with('%')) {
            rest_.remove_prefix(1);
            return append("%");
        }
        auto digits = precision();
        auto letter = rest_.empty() ? '\0' : rest_.front();
        rest_.remove_prefix(rest_.empty() ? 0 : 1);
        if (!std::string_view{"sdfexXob"}.contains(letter) || letter == '\0') {
            return refuse(machine_.fault(
                "bad_format", "expected one of %s %d %f %e %x %X %o %b %%, found another clause"));
        }
        if (next_ >= arguments_.size()) {
            return refuse(machine_.fault("no_such_member",
                                         "there is no argument {} to format(): it has {}", next_,
                                         arguments_.size()));
        }
        write(letter, digits, arguments_.item(next_++));
    }

    void write(char letter, int digits, const Cell& value) {
        switch (letter) {
            case 's': return write_any(value, 0);
            case 'd': return write_decimal(value);
            case 'f':
            case 'e': return write_real(letter, digits < 0 ? 6 : digits, value);
            case 'b':
                if (value.is(Kind::Bool)) {
                    return append(value.as_bool() ? "1" : "0");
                }
                return write_whole(letter, value);
            case 'x':
            case 'X':
                if (value.is(Kind::String) || value.is(Kind::Bytes)) {
                    return write_hex(value.text(), letter);
                }
                return write_whole(letter, value);
            default: return write_whole(letter, value);
        }
    }

    void no_clause(char letter, const Cell& value) {
        refuse(machine_.fault("no_such_overload", "%{} cannot write {}", letter,
                              name_of(value.kind())));
    }

    void write_decimal(const Cell& value) {
        if (value.is_number()) {
            return append(text_of(value));
        }
        no_clause('d', value);
    }

    void write_whole(char letter, const Cell& value) {
        if (!value.is(Kind::Int) && !value.is(Kind::Uint)) {
            return no_clause(letter, value);
        }
        auto is_negative = value.is(Kind::Int) && value.as_int() < 0;
        auto size = is_negative ? 0 - value.as_uint() : value.as_uint();
        auto digits = letter == 'b'   ? fmt::format("{:b}", size)
                      : letter == 'o' ? fmt::format("{:o}", size)
                      : letter == 'x' ? fmt::format("{:x}", size)
                                      : fmt::format("{:X}", size);
        append(is_negative ? "-" + digits : digits);
    }

    void write_hex(std::string_view bytes, char letter) {
        if (!machine_.affords_text(bytes.size() * 2)) {
            return refuse(machine_.budget_fault());
        }
        auto text = std::string{};
        const auto* digits = letter == 'x' ? "0123456789abcdef" : "0123456789ABCDEF";
        for (auto byte : bytes) {
            text += digits[static_cast<unsigned char>(byte) >> 4U];
            text += digits[static_cast<unsigned char>(byte) & 0x0fU];
        }
        append(text);
    }

    void write_real(char letter, int digits, const Cell& value) {
        if (!value.is_number()) {
            return no_clause(letter, value);
        }
        auto number = value.is(Kind::Double) ? value.as_double()
                      : value.is(Kind::Int)  ? static_cast<double>(value.as_int())
                                             : static_cast<double>(value.as_uint());
        if (!std::isfinite(number)) {
            return append(write_double(number));
        }
        append(letter == 'f' ? fmt::format("{:.{}f}", number, digits)
                             : fmt::format("{:.{}e}", number, digits));
    }

    void write_any(const Cell& value, std::size_t depth) {
        if (fault_ || depth > value_depth_max || !machine_.meter().spend(1)) {
            return refuse(machine_.budget_fault());
        }
        switch (value.kind()) {
            case Kind::List: return write_list(value, depth);
            case Kind::Map: return write_map(value, depth);
            case Kind::Double: return write_plain(value.as_double());
            case Kind::Bytes: return append(replace_invalid_utf8(value.text()));
            case Kind::String: return append(value.text());
            case Kind::Optional: return no_clause('s', value);
            default: return append(text_of(value));
        }
    }

    void write_plain(double number) {
        append(std::isfinite(number) && std::fabs(number) < 1e21 && std::fabs(number) >= 1e16
                   ? fmt::format("{:.0f}", number)
                   : write_double(number));
    }

    void write_list(const Cell& list, std::size_t depth) {
        append("[");
        for (auto at = std::size_t{0}; at < list.size() && !fault_; ++at) {
            append(at == 0 ? "" : ", ");
            write_any(list.item(at), depth + 1);
        }
        append("]");
    }

    /// In the order of the keys' texts, so that it does not depend on how the map came about.
    void write_map(const Cell& map, std::size_t depth) {
        auto entries = std::vector<std::pair<std::string, Cell>>{};
        if (!machine_.meter().spend(map.size())) {
            return refuse(machine_.budget_fault());
        }
        for (auto at = std::size_t{0}; at < map.size(); ++at) {
            auto entry = map.entry(at);
            if (!machine_.meter().spend_text(entry.key.is(Kind::String) ? entry.key.size() : 0)) {
                return refuse(machine_.budget_fault());
            }
            entries.emplace_back(text_of(entry.key), entry.value);
        }
        std::ranges::sort(entries, {}, &std::pair<std::string, Cell>::first);
        append("{");
        for (auto at = std::size_t{0}; at < entries.size() && !fault_; ++at) {
            append(at == 0 ? "" : ", ");
            append(entries[at].first);
            append(": ");
            write_any(entries[at].second, depth + 1);
        }
        append("}");
    }

    Machine& machine_;
    std::string_view rest_;
    const Cell& arguments_;
    std::size_t next_ = 0;
    std::string out_;
    std::optional<Cell> fault_;
};

} // namespace

Cell format(Machine& machine, std::string_view pattern, const Cell& arguments) {
    return Formatter{machine, pattern, arguments}.run();
}

} // namespace sluice::expr::cel::runtime

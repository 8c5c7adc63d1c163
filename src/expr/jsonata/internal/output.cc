#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "expr/jsonata/internal/operators.h"
#include "expr/jsonata/internal/raise.h"
#include "expr/jsonata/internal/text.h"
#include "value/json.h"

namespace sluice::expr::jsonata::internal {
namespace {

constexpr int significant_digits = 15;

/// `$string` rounds away what binary fractions add.
double rounded(double real) {
    auto text = fmt::format("{:.{}g}", real, significant_digits);
    return std::strtod(text.c_str(), nullptr);
}

/// Writes JSON as JavaScript does, numbers rounded, functions as "".
class Writer {
public:
    Writer(bool is_pretty, std::string& out, Evaluator& evaluator)
        : is_pretty_{is_pretty}, out_{out}, evaluator_{evaluator} {}

    void write(const Item& item, std::size_t depth) {
        evaluator_.spend(1);
        if (depth > value_depth_max || out_.size() > evaluator_.meter().text_bytes_max()) {
            raise("U1001", "a string is longer, or a value deeper, than the budget allows");
        }
        switch (item.type) {
            case Type::Bool: out_ += item.truth ? "true" : "false"; break;
            case Type::Int:
            case Type::Double:
                if (!is_finite_number(item)) {
                    out_ += "null";
                    break;
                }
                out_ += number_text(item);
                break;
            case Type::String: write_string(item.as_text()); break;
            case Type::List:
            case Type::Array: write_array(item, depth); break;
            case Type::Map:
            case Type::Object: write_object(item, depth); break;
            case Type::Function: out_ += "\"\""; break;
            default: out_ += "null"; break;
        }
    }

private:
    void write_string(std::string_view text) {
        evaluator_.spend(text.size() / 64);
        value::write_json_string(text, out_);
    }

    void write_array(const Item& item, std::size_t depth) {
        auto items = Items{item, evaluator_.arena()};
        out_ += '[';
        for (auto i = std::size_t{0}; i < items.size(); ++i) {
            begin_part(i, depth);
            write(items[i], depth + 1);
        }
        end_parts(items.size(), depth);
        out_ += ']';
    }

    void write_object(const Item& item, std::size_t depth) {
        auto members = Members{item};
        out_ += '{';
        for (auto i = std::size_t{0}; i < members.size(); ++i) {
            begin_part(i, depth);
            write_string(members.key(i));
            out_ += is_pretty_ ? ": " : ":";
            write(members.value(i, evaluator_.arena()), depth + 1);
        }
        end_parts(members.size(), depth);
        out_ += '}';
    }

    void begin_part(std::size_t index, std::size_t depth) {
        out_ += index > 0 ? "," : "";
        if (is_pretty_) {
            out_ += '\n';
            out_.append(2 * (depth + 1), ' ');
        }
    }

    void end_parts(std::size_t count, std::size_t depth) {
        if (is_pretty_ && count > 0) {
            out_ += '\n';
            out_.append(2 * depth, ' ');
        }
    }

    bool is_pretty_;
    std::string& out_;
    Evaluator& evaluator_;
};

/// From the shortest digits that read back the same.
std::string plain_number(std::string_view digits, int exponent) {
    auto count = static_cast<int>(digits.size());
    if (exponent >= 0 && exponent < 21) {
        if (count <= exponent + 1) {
            return std::string{digits} + std::string(static_cast<std::size_t>(exponent + 1 - count), '0');
        }
        auto whole = static_cast<std::size_t>(exponent + 1);
        return fmt::format("{}.{}", digits.substr(0, whole), digits.substr(whole));
    }
    if (exponent < 0 && exponent >= -7 + 1) {
        return "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + std::string{digits};
    }
    auto fraction = digits.substr(1);
    return fmt::format("{}{}{}e{}{}", digits[0], fraction.empty() ? "" : ".", fraction,
                       exponent < 0 ? '-' : '+', std::abs(exponent));
}

} // namespace

std::string number_text(double real) {
    if (real == 0) {
        return "0";
    }
    auto buffer = std::array<char, 32>{};
    auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(real),
                                 std::chars_format::scientific);
    auto text = std::string_view{buffer.data(), written.ptr};
    auto split = text.find('e');
    auto digits = std::string{text.substr(0, split)};
    std::erase(digits, '.');
    auto exponent = std::atoi(std::string{text.substr(split + 1)}.c_str());
    return (real < 0 ? "-" : "") + plain_number(digits, exponent);
}

std::string number_text(const Item& item) {
    return item.type == Type::Int ? std::to_string(item.integer) : number_text(rounded(item.real));
}

void write_text(const Item& item, bool is_pretty, std::string& out, Evaluator& evaluator) {
    switch (item.type) {
        case Type::Undefined: break;
        case Type::String: out += item.as_text(); break;
        case Type::Function: break;
        case Type::Double:
            if (!std::isfinite(item.real)) {
                raise("D3001", "attempting to invoke string function on Infinity or NaN");
            }
            out += number_text(item);
            break;
        default: Writer{is_pretty, out, evaluator}.write(item, 0); break;
    }
}

Item text_of(const Item& item, Evaluator& evaluator) {
    if (item.is_string()) {
        return item;
    }
    auto text = std::string{};
    write_text(item, false, text, evaluator);
    return evaluator.make_text(text);
}

namespace {

/// Asks for room in the output; what does not go out is only counted as work.
void account(std::size_t bytes, bool is_output, Evaluator& evaluator) {
    evaluator.spend(1 + bytes / 64);
    if (is_output && !evaluator.meter().spend_output(bytes)) {
        raise("U1001", "the result is larger than the budget allows");
    }
}

/// Parts of the input go out as they are; what they weigh is found without recursion.
void account_borrowed(const Value& value, bool is_output, Evaluator& evaluator) {
    auto pending = std::vector<const Value*>{&value};
    while (!pending.empty()) {
        const auto& next = *pending.back();
        pending.pop_back();
        account(1 + (next.is_string() ? next.size() : 0), is_output, evaluator);
        if (next.is_list()) {
            for (const auto& item : next.as_list()) {
                pending.push_back(&item);
            }
        } else if (next.is_map()) {
            for (const auto& [key, member] : next.as_map()) {
                account(key.size(), is_output, evaluator);
                pending.push_back(&member);
            }
        }
    }
}

Value number_value(const Item& item) {
    if (!std::isfinite(item.real)) {
        raise("D1001", "number out of range: {}", item.real);
    }
    auto whole = number(item.real);
    return whole.type == Type::Int ? Value{whole.integer} : Value{item.real};
}

} // namespace

Value to_value(const Item& item, Evaluator& evaluator, bool is_output, std::size_t depth) {
    if (depth > value_depth_max) {
        raise("U1001", "the result is nested deeper than {}", value_depth_max);
    }
    account(1 + (item.is_string() ? item.length : 0), is_output, evaluator);
    switch (item.type) {
        case Type::Bool: return Value{item.truth};
        case Type::Int: return Value{item.integer};
        case Type::Double: return number_value(item);
        case Type::String:
            return has_surrogates(item.as_text()) ? Value{without_surrogates(item.as_text())}
                                                  : Value{item.as_text()};
        case Type::List:
        case Type::Map: account_borrowed(*item.value, is_output, evaluator); return *item.value;
        case Type::Array: {
            auto values = std::vector<Value>{};
            values.reserve(std::min<std::size_t>(item.array->size, 1024));
            for (auto i = std::size_t{0}; i < item.array->size; ++i) {
                values.push_back(to_value(item.array->at(i), evaluator, is_output, depth + 1));
            }
            return Value::list(std::move(values));
        }
        case Type::Object: {
            auto members = std::vector<value::Member>{};
            members.reserve(item.object->size);
            for (auto i = std::size_t{0}; i < item.object->size; ++i) {
                const auto& [key, value] = item.object->members[i];
                account(key.size(), is_output, evaluator);
                members.push_back({has_surrogates(key) ? without_surrogates(key) : std::string{key},
                                   to_value(value, evaluator, is_output, depth + 1)});
            }
            return Value::map(std::move(members));
        }
        case Type::Tuple: return to_value(item.tuple->context, evaluator, is_output, depth + 1);
        case Type::Function:
            raise("unsupported_result", "a function is no value of JSON; call it");
        default: break;
    }
    return {};
}

} // namespace sluice::expr::jsonata::internal

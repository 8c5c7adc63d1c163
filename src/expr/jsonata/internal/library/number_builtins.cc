#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <random>

#include "expr/jsonata/internal/evaluator.h"
#include "expr/jsonata/internal/library/builtin.h"
#include "expr/jsonata/internal/operators.h"
#include "expr/jsonata/internal/picture/decimal_picture.h"
#include "expr/jsonata/internal/picture/integer_picture.h"
#include "expr/jsonata/internal/raise.h"

namespace sluice::expr::jsonata::internal {
namespace {

bool is_decimal(std::string_view text) {
    auto at = text.starts_with('-') ? std::size_t{1} : std::size_t{0};
    auto skip_digits = [&] {
        auto from = at;
        while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
            ++at;
        }
        return at > from;
    };
    if (!skip_digits()) {
        return false;
    }
    if (at < text.size() && text[at] == '.') {
        ++at;
        if (!skip_digits()) {
            return false;
        }
    }
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        ++at;
        at += at < text.size() && (text[at] == '+' || text[at] == '-') ? 1 : 0;
        return skip_digits() && at == text.size();
    }
    return at == text.size();
}

/// 0x1F, 0o17 and 0b11; nothing for other texts.
std::optional<double> read_prefixed(std::string_view text) {
    if (text.size() < 3 || text[0] != '0') {
        return std::nullopt;
    }
    auto letter = text[1] | 0x20;
    auto base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
    auto number = 0.0;
    for (auto digit : text.substr(2)) {
        auto lower = digit | 0x20;
        auto value = digit <= '9' ? digit - '0' : lower >= 'a' ? lower - 'a' + 10 : 99;
        if (value < 0 || value >= base) {
            return std::nullopt;
        }
        number = number * base + value;
    }
    return number;
}

Item run_number(const Call& call) {
    if (call[0].is_undefined() || call[0].is_number()) {
        return call[0];
    }
    if (call[0].is_bool()) {
        return Item::of(std::int64_t{call[0].truth ? 1 : 0});
    }
    auto text = call[0].as_text();
    if (auto prefixed = read_prefixed(text)) {
        return number(*prefixed);
    }
    if (is_decimal(text)) {
        auto whole = std::int64_t{0};
        auto read = std::from_chars(text.data(), text.data() + text.size(), whole);
        if (read.ec == std::errc{} && read.ptr == text.data() + text.size()) {
            return Item::of(whole);
        }
        auto real = std::strtod(std::string{text}.c_str(), nullptr);
        if (std::isfinite(real)) {
            return number(real);
        }
    }
    raise("D3030", "unable to cast value to a number: \"{}\"", text);
}

Item run_abs(const Call& call) {
    auto is_negative = call[0].is_number() && call[0].as_double() < 0;
    return is_negative ? calculate(Operator::Subtract, Item::of(std::int64_t{0}), call[0], 0)
                       : call[0];
}

Item run_floor(const Call& call) {
    return call[0].type == Type::Double ? number(std::floor(call[0].real)) : call[0];
}

Item run_ceil(const Call& call) {
    return call[0].type == Type::Double ? number(std::ceil(call[0].real)) : call[0];
}

Item run_round(const Call& call) {
    auto digits = call[1].is_undefined() ? 0.0 : std::clamp(call[1].as_double(), -400.0, 400.0);
    if (call[0].is_undefined() || (call[0].type == Type::Int && digits >= 0)) {
        return call[0];
    }
    return number(round_to(call[0].as_double(), static_cast<int>(digits)));
}

Item run_sqrt(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    if (call[0].as_double() < 0) {
        raise("D3060", "the sqrt function cannot be applied to a negative number: {}",
              call[0].as_double());
    }
    return number(std::sqrt(call[0].as_double()));
}

Item run_power(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto exponent = call[1].is_undefined() ? std::nan("") : call[1].as_double();
    auto result = std::pow(call[0].as_double(), exponent);
    if (!std::isfinite(result) || std::isnan(exponent)) {
        raise("D3061",
              "the power function has resulted in a value that cannot be represented as a JSON "
              "number: base={}, exponent={}",
              call[0].as_double(), exponent);
    }
    return number(result);
}

Item run_random(const Call& call) {
    return Item::of(call.evaluator.chance().unit());
}

Item run_sum(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto items = Items{call[0], call.arena};
    call.evaluator.spend(items.size() / 16);
    auto sum = Item::of(std::int64_t{0});
    for (auto i = std::size_t{0}; i < items.size(); ++i) {
        sum = calculate(Operator::Add, sum, items[i], position_unknown);
    }
    return sum;
}

Item extreme(const Call& call, Operator op) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto items = Items{call[0], call.arena};
    call.evaluator.spend(items.size() / 16);
    auto best = items.size() > 0 ? items[0] : Item{};
    for (auto i = std::size_t{1}; i < items.size(); ++i) {
        best = compare(op, items[i], best, position_unknown).truth ? items[i] : best;
    }
    return best;
}

Item run_max(const Call& call) {
    return extreme(call, Operator::Greater);
}

Item run_min(const Call& call) {
    return extreme(call, Operator::Less);
}

Item run_average(const Call& call) {
    if (call[0].is_undefined() || size_of(call[0]) == 0) {
        return {};
    }
    auto count = static_cast<std::int64_t>(size_of(call[0]));
    return calculate(Operator::Divide, run_sum(call), Item::of(count), position_unknown);
}

Item run_format_base(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto value = round_to(call[0].as_double(), 0);
    auto radix = call[1].is_undefined() ? 10.0 : round_to(call[1].as_double(), 0);
    if (!(radix >= 2 && radix <= 36)) {
        raise("D3100",
              "the radix of the formatBase function must be between 2 and 36. It was given {}",
              radix);
    }
    auto digits = std::string{};
    auto rest = std::abs(value);
    do {
        auto digit = static_cast<std::size_t>(std::fmod(rest, radix));
        digits += "0123456789abcdefghijklmnopqrstuvwxyz"[digit];
        rest = std::floor(rest / radix);
    } while (rest > 0);
    digits += value < 0 ? "-" : "";
    std::ranges::reverse(digits);
    return call.evaluator.make_text(digits);
}

/// A picture may have as many separators as digits.
void charge_picture(const Call& call) {
    auto size = std::uint64_t{call[1].length};
    call.evaluator.spend(size + size * size / 1000 +
                         (call[0].is_string() ? call[0].length / 8 : 0));
}

Item run_format_number(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    charge_picture(call);
    return call.evaluator.make_text(
        format_number(call[0].as_double(), call[1].as_text(), call[2], call.arena));
}

Item run_format_integer(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    charge_picture(call);
    auto picture = IntegerPicture::parse(call[1].as_text());
    return call.evaluator.make_text(format_integer(std::floor(call[0].as_double()), picture));
}

Item run_parse_integer(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    charge_picture(call);
    auto parsed = parse_integer(call[0].as_text(), IntegerPicture::parse(call[1].as_text()));
    return std::isnan(parsed) ? Item{} : number(parsed);
}

} // namespace

Random& Evaluator::chance() {
    if (!chance_) {
        static thread_local auto seeds = Random{std::random_device{}()};
        chance_ = Random{seeds.next()};
    }
    return *chance_;
}

std::span<const Builtin> number_builtins() {
    static constexpr auto builtins = std::to_array<Builtin>({
        {"number", "<(nsb)-:n>", 1, run_number},
        {"abs", "<n-:n>", 1, run_abs},
        {"floor", "<n-:n>", 1, run_floor},
        {"ceil", "<n-:n>", 1, run_ceil},
        {"round", "<n-n?:n>", 2, run_round},
        {"sqrt", "<n-:n>", 1, run_sqrt},
        {"power", "<n-n:n>", 2, run_power},
        {"random", "<:n>", 0, run_random},
        {"sum", "<a<n>:n>", 1, run_sum},
        {"max", "<a<n>:n>", 1, run_max},
        {"min", "<a<n>:n>", 1, run_min},
        {"average", "<a<n>:n>", 1, run_average},
        {"formatBase", "<n-n?:s>", 2, run_format_base},
        {"formatNumber", "<n-so?:s>", 3, run_format_number},
        {"formatInteger", "<n-s:s>", 2, run_format_integer},
        {"parseInteger", "<s-s:n>", 2, run_parse_integer},
    });
    return builtins;
}

} // namespace sluice::expr::jsonata::internal

#include "value/amount_text.h"

#include <charconv>
#include <cmath>
#include <span>
#include <utility>

#include "value/json.h"

namespace sluice::value {

namespace {

using AmountUnit = std::pair<std::string_view, double>;

constexpr AmountUnit rate_units[] = {{"/s", 1.0}, {"/m", 60.0}, {"/h", 3'600.0}, {"/d", 86'400.0}};
constexpr AmountUnit byte_units[] = {
    {"B", 1.0}, {"KiB", 1024.0}, {"MiB", 1024.0 * 1024}, {"GiB", 1024.0 * 1024 * 1024}};
constexpr auto rate_min = 1.0 / 86'400;
constexpr auto rate_max = 1e9;
constexpr auto bytes_max = 1e15;

/// A number and how much its unit is; without a unit, one.
struct Amount {
    double number = std::nan("");
    double unit = 1;
};

Amount read_amount(const Value& written, std::span<const AmountUnit> units) {
    if (written.is_number()) {
        return {.number = written.is_double() ? written.as_double()
                                              : static_cast<double>(written.as_int())};
    }
    if (!written.is_string()) {
        return {};
    }
    auto amount = Amount{};
    auto text = written.as_string();
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount.number,
                                        std::chars_format::fixed);
    if (error != std::errc{}) {
        return {};
    }
    auto name = text.substr(static_cast<std::size_t>(end - text.data()));
    for (const auto& [each, factor] : units) {
        if (each == name) {
            amount.unit = factor;
            return amount;
        }
    }
    return {};
}

} // namespace

Result<double> parse_rate(const Value& written) {
    auto [number, unit] = read_amount(written, rate_units);
    auto rate = number / unit;
    if (!(rate >= rate_min * 0.999 && rate <= rate_max)) {
        return fail(Errc::InvalidInput,
                    "found {}, expected a rate such as \"100/s\", \"90/m\", \"10/h\" or \"5/d\"",
                    to_json(written));
    }
    return rate;
}

Result<std::uint64_t> parse_bytes(const Value& written) {
    auto [number, unit] = read_amount(written, byte_units);
    auto bytes = number * unit;
    if (!(bytes >= 1 && bytes <= bytes_max)) {
        return fail(Errc::InvalidInput,
                    "found {}, expected a size such as \"64KiB\", \"256MiB\" or \"2GiB\"",
                    to_json(written));
    }
    return static_cast<std::uint64_t>(bytes);
}

} // namespace sluice::value

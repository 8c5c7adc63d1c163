#include "expr/cel/runtime/text_of.h"

#include <chrono>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "expr/cel/runtime/network.h"

namespace sluice::expr::cel::runtime {
namespace {

/// ".25", or nothing.
std::string write_fraction(std::uint32_t nanos) {
    if (nanos == 0) {
        return {};
    }
    auto text = fmt::format(".{:09}", nanos);
    text.erase(text.find_last_not_of('0') + 1);
    return text;
}

} // namespace

std::string write_double(double number) {
    if (std::isnan(number)) {
        return "NaN";
    }
    if (std::isinf(number)) {
        return number > 0 ? "Infinity" : "-Infinity";
    }
    return fmt::format("{}", number);
}

std::string write_timestamp(Moment moment) {
    auto time = std::chrono::sys_seconds{std::chrono::seconds{moment.seconds}};
    auto day = std::chrono::floor<std::chrono::days>(time);
    auto date = std::chrono::year_month_day{day};
    auto clock = std::chrono::hh_mm_ss{time - day};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                       write_fraction(moment.nanos));
}

std::string write_duration(std::int64_t nanos) {
    constexpr auto nanos_per_second = std::uint64_t{1'000'000'000};
    auto size =
        nanos < 0 ? 0 - static_cast<std::uint64_t>(nanos) : static_cast<std::uint64_t>(nanos);
    return fmt::format("{}{}{}s", nanos < 0 ? "-" : "", size / nanos_per_second,
                       write_fraction(static_cast<std::uint32_t>(size % nanos_per_second)));
}

std::string text_of(const Cell& cell) {
    switch (cell.kind()) {
        case Kind::Null: return "null";
        case Kind::Bool: return cell.as_bool() ? "true" : "false";
        case Kind::Int: return std::to_string(cell.as_int());
        case Kind::Uint: return std::to_string(cell.as_uint());
        case Kind::Double: return write_double(cell.as_double());
        case Kind::String:
        case Kind::Bytes: return std::string{cell.text()};
        case Kind::Timestamp: return write_timestamp(cell.as_timestamp());
        case Kind::Duration: return write_duration(cell.as_duration());
        case Kind::Type: return std::string{name_of(cell.as_type())};
        case Kind::Address:
        case Kind::Network: return write_interval(cell);
        default: return {};
    }
}

} // namespace sluice::expr::cel::runtime

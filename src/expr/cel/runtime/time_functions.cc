#include <array>
#include <chrono>

#include "expr/cel/runtime/excerpt.h"
#include "expr/cel/runtime/function.h"
#include "expr/cel/runtime/moment.h"

namespace sluice::expr::cel::runtime {
namespace {

enum class Part : std::uint8_t {
    Year,
    Month,
    Date,
    DayOfMonth,
    DayOfWeek,
    DayOfYear,
    Hours,
    Minutes,
    Seconds,
    Milliseconds,
};

std::int64_t part_of_day(Part part, std::chrono::seconds since_midnight, std::uint32_t nanos) {
    auto clock = std::chrono::hh_mm_ss{since_midnight};
    switch (part) {
        case Part::Hours: return clock.hours().count();
        case Part::Minutes: return clock.minutes().count();
        case Part::Seconds: return clock.seconds().count();
        default: return nanos / 1'000'000;
    }
}

std::int64_t part_of(Part part, Moment moment, std::chrono::seconds offset) {
    auto local = std::chrono::sys_seconds{std::chrono::seconds{moment.seconds}} + offset;
    auto day = std::chrono::floor<std::chrono::days>(local);
    auto date = std::chrono::year_month_day{day};
    switch (part) {
        case Part::Year: return static_cast<int>(date.year());
        case Part::Month: return static_cast<unsigned>(date.month()) - std::int64_t{1};
        case Part::Date: return static_cast<unsigned>(date.day());
        case Part::DayOfMonth: return static_cast<unsigned>(date.day()) - std::int64_t{1};
        case Part::DayOfWeek: return std::chrono::weekday{day}.c_encoding();
        case Part::DayOfYear:
            return (day - std::chrono::sys_days{date.year() / std::chrono::January / 1}).count();
        default: return part_of_day(part, local - day, moment.nanos);
    }
}

Cell part_of_duration(Machine& machine, Part part, Arguments arguments) {
    auto nanos = arguments[0].as_duration();
    switch (part) {
        case Part::Hours: return Cell::integer(nanos / 3'600'000'000'000);
        case Part::Minutes: return Cell::integer(nanos / 60'000'000'000);
        case Part::Seconds: return Cell::integer(nanos / 1'000'000'000);
        case Part::Milliseconds: return Cell::integer(nanos / 1'000'000 % 1000);
        default: return machine.no_overload("get…", arguments);
    }
}

template <Part part>
Cell get(Machine& machine, Arguments arguments) {
    if (arguments[0].is(Kind::Duration) && arguments.size() == 1) {
        return part_of_duration(machine, part, arguments);
    }
    auto has_zone = arguments.size() == 2;
    if (!arguments[0].is(Kind::Timestamp) || (has_zone && !arguments[1].is(Kind::String))) {
        return machine.no_overload("get…", arguments);
    }
    auto moment = arguments[0].as_timestamp();
    auto offset = has_zone ? offset_of(arguments[1].text(), moment) : std::chrono::seconds{0};
    return offset ? Cell::integer(part_of(part, moment, *offset))
                  : machine.fault("bad_conversion",
                                  "there is no time zone \"{}\": expected a name such as "
                                  "Europe/Berlin, or +01:00",
                                  excerpt(arguments[1].text()));
}

constexpr Function getter(std::string_view name, Implementation implementation) {
    return {name, CallStyle::Member, 1, 2, only(Kind::Int), implementation};
}

constexpr auto time_table = std::array{
    getter("getFullYear", get<Part::Year>),
    getter("getMonth", get<Part::Month>),
    getter("getDate", get<Part::Date>),
    getter("getDayOfMonth", get<Part::DayOfMonth>),
    getter("getDayOfWeek", get<Part::DayOfWeek>),
    getter("getDayOfYear", get<Part::DayOfYear>),
    getter("getHours", get<Part::Hours>),
    getter("getMinutes", get<Part::Minutes>),
    getter("getSeconds", get<Part::Seconds>),
    getter("getMilliseconds", get<Part::Milliseconds>),
};

} // namespace

std::span<const Function> time_functions() {
    return time_table;
}

} // namespace sluice::expr::cel::runtime

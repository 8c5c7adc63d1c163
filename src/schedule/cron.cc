#include "schedule/cron.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace sluice::schedule {

namespace {

using namespace std::chrono_literals;
using std::chrono::local_days;
using std::chrono::months;
using std::chrono::year_month;

constexpr auto months_ahead_max = 120 * 12;
constexpr auto text_bytes_max = std::size_t{1'000};

constexpr auto month_names = std::array<std::string_view, 12>{
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr auto weekday_names =
    std::array<std::string_view, 7>{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

constexpr std::pair<std::string_view, std::string_view> nicknames[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
};

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
    auto parts = std::vector<std::string_view>{};
    while (!text.empty()) {
        auto end = std::min(text.find_first_of(separators), text.size());
        if (end > 0 || separators.size() == 1) {
            parts.push_back(text.substr(0, end));
        }
        text.remove_prefix(std::min(text.size(), end + 1));
    }
    return parts;
}

std::string upper(std::string_view text) {
    auto result = std::string{text};
    std::ranges::transform(result, result.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return result;
}

unsigned last_day(year_month month) {
    return static_cast<unsigned>((month / std::chrono::last).day());
}

/// 0 is Sunday.
unsigned weekday_of(year_month month, unsigned day) {
    return std::chrono::weekday{local_days{month / std::chrono::day{day}}}.c_encoding();
}

/// The weekday nearest to a day, within its month.
unsigned nearest_weekday(year_month month, unsigned day) {
    auto last = last_day(month);
    day = std::min(day, last);
    switch (weekday_of(month, day)) {
        case 0: return day == last ? day - 2 : day + 1;
        case 6: return day == 1 ? day + 2 : day - 1;
        default: return day;
    }
}

} // namespace

/// What a field may have.
struct Cron::Field {
    std::string_view name;
    unsigned least;
    unsigned most;
    std::span<const std::string_view> names;
};

/// Reads the fields of an expression, one after the other.
class Cron::Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    Result<Cron> read() {
        auto expanded = TRY(expand());
        auto fields = split(expanded, " \t");
        if (fields.size() != 5 && fields.size() != 6) {
            return fail(Errc::InvalidInput,
                        "cron \"{}\" has {} fields: expected 5 (minute, hour, day, month, day of "
                        "the week), or 6 with the second first",
                        text_, fields.size());
        }
        auto cron = Cron{};
        auto at = fields.begin();
        cron.seconds_.set(0);
        if (fields.size() == 6) {
            TRY(read_field({"second", 0, 59, {}}, *at++, cron.seconds_));
        }
        TRY(read_field({"minute", 0, 59, {}}, *at++, cron.minutes_));
        cron.is_every_hour_ = at->starts_with('*');
        TRY(read_field({"hour", 0, 23, {}}, *at++, cron.hours_));
        cron.is_any_day_ = *at == "?" || at->starts_with('*');
        TRY(read_days(*at++, cron));
        TRY(read_field({"month", 1, 12, month_names}, *at++, cron.months_));
        cron.is_any_weekday_ = *at == "?" || at->starts_with('*');
        TRY(read_weekdays(*at++, cron));
        if (!cron.next(local_days{std::chrono::year{2000} / 1 / 1})) {
            return fail(Errc::InvalidInput, "cron \"{}\": there is no such day", text_);
        }
        return cron;
    }

private:
    Result<std::string> expand() const {
        if (text_.size() > text_bytes_max) {
            return fail(Errc::InvalidInput, "cron of {} bytes: expected at most {}", text_.size(),
                        text_bytes_max);
        }
        if (!text_.starts_with('@')) {
            return upper(text_);
        }
        for (const auto& [name, meaning] : nicknames) {
            if (text_ == name) {
                return std::string{meaning};
            }
        }
        return fail(Errc::InvalidInput,
                    "cron \"{}\": expected @hourly, @daily, @weekly, @monthly, @yearly, or fields",
                    text_);
    }

    template <std::size_t N>
    Result<void> read_field(const Field& field, std::string_view text, std::bitset<N>& bits) {
        for (auto part : split(text, ",")) {
            TRY(read_part(field, part, bits));
        }
        return text.ends_with(',') || text.empty() ? wrong(field, text) : Result<void>{};
    }

    template <std::size_t N>
    Result<void> read_part(const Field& field, std::string_view part, std::bitset<N>& bits) {
        auto slash = part.find('/');
        auto range = part.substr(0, slash);
        auto step = 1U;
        if (slash != std::string_view::npos) {
            step = TRY(read_number(field, part.substr(slash + 1)));
            if (step == 0) {
                return wrong(field, part);
            }
        }
        auto dash = range.find('-');
        auto first = field.least;
        auto last = field.most;
        if (range != "*" && range != "?") {
            first = TRY(read_value(field, range.substr(0, dash)));
            // `5/10` goes on to the end, `5` does not.
            last = slash == std::string_view::npos ? first : field.most;
        }
        if (dash != std::string_view::npos) {
            last = TRY(read_value(field, range.substr(dash + 1)));
            last = last == 0 && is_weekday(field) ? 7 : last; // FRI-SUN
        }
        if (first > last) {
            return wrong(field, part);
        }
        for (auto value = first; value <= last; value += step) {
            bits.set(is_weekday(field) ? value % 7 : value);
        }
        return {};
    }

    /// A number within bounds, or a name.
    Result<unsigned> read_value(const Field& field, std::string_view text) {
        for (auto at = std::size_t{0}; at < field.names.size(); ++at) {
            if (field.names[at] == text) {
                return static_cast<unsigned>(at) + field.least;
            }
        }
        auto value = TRY(read_number(field, text));
        if (value < field.least || value > field.most) {
            return std::unexpected(wrong(field, text).error());
        }
        return value;
    }

    Result<unsigned> read_number(const Field& field, std::string_view text) {
        auto number = 0U;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc{} || end != text.data() + text.size() || number > 1'000) {
            return std::unexpected(wrong(field, text).error());
        }
        return number;
    }

    Result<void> read_days(std::string_view text, Cron& cron) {
        const auto field = Field{"day", 1, 31, {}};
        for (auto part : split(text, ",")) {
            if (part == "LW" || part == "WL") {
                cron.day_rules_.push_back({.kind = DayRule::Kind::LastWeekday});
            } else if (part == "L") {
                cron.day_rules_.push_back({.kind = DayRule::Kind::Last});
            } else if (part.starts_with("L-")) {
                auto before = TRY(read_value({"day", 1, 30, {}}, part.substr(2)));
                cron.day_rules_.push_back({.kind = DayRule::Kind::Last, .day = before});
            } else if (part.ends_with('W')) {
                auto day = TRY(read_value(field, part.substr(0, part.size() - 1)));
                cron.day_rules_.push_back({.kind = DayRule::Kind::NearestWeekday, .day = day});
            } else {
                TRY(read_part(field, part, cron.days_));
            }
        }
        return text.ends_with(',') ? wrong(field, text) : Result<void>{};
    }

    Result<void> read_weekdays(std::string_view text, Cron& cron) {
        const auto field = Field{"weekday", 0, 7, weekday_names};
        for (auto part : split(text, ",")) {
            auto hash = part.find('#');
            if (hash != std::string_view::npos) {
                auto day = TRY(read_value(field, part.substr(0, hash))) % 7;
                auto number = TRY(read_value({"weekday", 1, 5, {}}, part.substr(hash + 1)));
                cron.weekday_rules_.push_back(
                    {.kind = DayRule::Kind::NthOf, .day = day, .number = number});
            } else if (part.size() > 1 && part.ends_with('L')) {
                auto day = TRY(read_value(field, part.substr(0, part.size() - 1))) % 7;
                cron.weekday_rules_.push_back({.kind = DayRule::Kind::LastOf, .day = day});
            } else {
                TRY(read_part(field, part, cron.weekdays_));
            }
        }
        return text.ends_with(',') ? wrong(field, text) : Result<void>{};
    }

    static bool is_weekday(const Field& field) { return field.name == "weekday"; }

    Result<void> wrong(const Field& field, std::string_view text) const {
        return fail(Errc::InvalidInput,
                    "cron \"{}\": {} \"{}\": expected {} to {}{}, *, a range such as {}-{}, a step "
                    "such as */{}, or a list of these",
                    text_, field.name, text, field.least, field.most,
                    field.names.empty() ? "" : ", a name such as " + std::string{field.names[1]},
                    field.least, field.least + 2, 2);
    }

    std::string_view text_;
};

Result<Cron> Cron::parse(std::string_view text) {
    return Reader{text}.read();
}

std::uint32_t Cron::days_of(year_month month) const {
    auto last = last_day(month);
    auto by_day = std::uint32_t{0};
    auto by_weekday = std::uint32_t{0};
    auto bit = [](unsigned day) { return std::uint32_t{1} << day; };
    for (auto day = 1U; day <= last; ++day) {
        by_day |= days_[day] ? bit(day) : 0;
        by_weekday |= weekdays_[weekday_of(month, day)] ? bit(day) : 0;
    }
    for (const auto& rule : day_rules_) {
        if (rule.kind == DayRule::Kind::NearestWeekday && rule.day <= last) {
            by_day |= bit(nearest_weekday(month, rule.day));
        } else if (rule.kind == DayRule::Kind::LastWeekday) {
            by_day |= bit(nearest_weekday(month, last));
        } else if (rule.kind == DayRule::Kind::Last && rule.day < last) {
            by_day |= bit(last - rule.day);
        }
    }
    for (const auto& rule : weekday_rules_) {
        auto first = 1 + (rule.day + 7 - weekday_of(month, 1)) % 7;
        auto day = rule.kind == DayRule::Kind::NthOf ? first + 7 * (rule.number - 1)
                                                     : first + 7 * ((last - first) / 7);
        by_weekday |= day <= last ? bit(day) : 0;
    }
    return is_any_day_ || is_any_weekday_ ? by_day & by_weekday : by_day | by_weekday;
}

/// The first time of a day at or after this one.
std::optional<std::chrono::seconds> Cron::next_in_day(std::chrono::seconds from) const {
    auto start = std::chrono::hh_mm_ss{from};
    auto minute = static_cast<unsigned>(start.minutes().count());
    auto second = static_cast<unsigned>(start.seconds().count());
    for (auto hour = static_cast<unsigned>(start.hours().count()); hour < 24; ++hour) {
        for (; hours_[hour] && minute < 60; ++minute) {
            for (; minutes_[minute] && second < 60; ++second) {
                if (seconds_[second]) {
                    return std::chrono::hours{hour} + std::chrono::minutes{minute} +
                           std::chrono::seconds{second};
                }
            }
            second = 0;
        }
        minute = 0;
        second = 0;
    }
    return std::nullopt;
}

std::optional<LocalTime> Cron::next(LocalTime after) const {
    auto from = after + 1s;
    auto date = std::chrono::year_month_day{std::chrono::floor<std::chrono::days>(from)};
    auto month = year_month{date.year(), date.month()};
    auto first = static_cast<unsigned>(date.day());
    for (auto ahead = 0; ahead < months_ahead_max; ++ahead, month += months{1}, first = 1) {
        if (!months_[static_cast<unsigned>(month.month())]) {
            continue;
        }
        auto days = days_of(month);
        for (auto day = first; day <= 31; ++day) {
            if ((days >> day & 1U) == 0) {
                continue;
            }
            auto midnight = local_days{month / std::chrono::day{day}};
            auto time = next_in_day(std::max(0s, std::chrono::seconds{from - midnight}));
            if (time) {
                return midnight + *time;
            }
        }
    }
    return std::nullopt;
}

} // namespace sluice::schedule

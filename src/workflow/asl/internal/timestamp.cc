#include "workflow/asl/internal/timestamp.h"

#include <chrono>
#include <cstddef>
#include <optional>

namespace sluice::workflow::asl::internal {

namespace {

bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}

/// Takes parts off the front of a text.
class Scanner {
public:
    explicit Scanner(std::string_view text) : rest_(text) {}

    bool take(char letter) {
        auto is_there = rest_.starts_with(letter);
        rest_.remove_prefix(is_there ? 1 : 0);
        return is_there;
    }

    std::optional<int> take_digits(std::size_t count) {
        auto number = 0;
        for (auto at = std::size_t{0}; at < count; ++at) {
            if (at >= rest_.size() || !is_digit(rest_[at])) {
                return std::nullopt;
            }
            number = number * 10 + (rest_[at] - '0');
        }
        rest_.remove_prefix(count);
        return number;
    }

    std::size_t skip_digits() {
        auto count = std::size_t{0};
        while (!rest_.empty() && is_digit(rest_.front())) {
            rest_.remove_prefix(1);
            ++count;
        }
        return count;
    }

    bool is_done() const { return rest_.empty(); }

private:
    std::string_view rest_;
};

bool take_date(Scanner& scanner) {
    auto year = scanner.take_digits(4);
    auto month = scanner.take('-') ? scanner.take_digits(2) : std::nullopt;
    auto day = scanner.take('-') ? scanner.take_digits(2) : std::nullopt;
    return year && month && day &&
           std::chrono::year_month_day{std::chrono::year{*year},
                                       std::chrono::month{static_cast<unsigned>(*month)},
                                       std::chrono::day{static_cast<unsigned>(*day)}}
               .ok();
}

bool take_time(Scanner& scanner) {
    auto hour = scanner.take_digits(2);
    auto minute = scanner.take(':') ? scanner.take_digits(2) : std::nullopt;
    auto second = scanner.take(':') ? scanner.take_digits(2) : std::nullopt;
    auto has_fraction = scanner.take('.');
    if (has_fraction && scanner.skip_digits() == 0) {
        return false;
    }
    return hour && minute && second && *hour < 24 && *minute < 60 && *second <= 60;
}

bool take_zone(Scanner& scanner) {
    if (scanner.take('Z')) {
        return true;
    }
    if (!scanner.take('+') && !scanner.take('-')) {
        return false;
    }
    auto hour = scanner.take_digits(2);
    auto minute = scanner.take(':') ? scanner.take_digits(2) : std::nullopt;
    return hour && minute && *hour < 24 && *minute < 60;
}

} // namespace

bool is_timestamp(std::string_view text) {
    auto scanner = Scanner{text};
    return take_date(scanner) && scanner.take('T') && take_time(scanner) && take_zone(scanner) &&
           scanner.is_done();
}

} // namespace sluice::workflow::asl::internal

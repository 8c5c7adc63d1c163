#include "expr/states/timestamp.h"

#include <chrono>

namespace sluice::expr::states {
namespace {

/// Reads a text from its front; once something is missing it stays failed.
class TimestampReader {
public:
    explicit TimestampReader(std::string_view text) : rest_{text} {}

    bool is_failed() const { return is_failed_; }
    bool is_at_end() const { return rest_.empty(); }

    int digits(std::size_t count, int low, int high) {
        auto number = 0;
        for (auto at = std::size_t{0}; at < count; ++at) {
            if (at >= rest_.size() || rest_[at] < '0' || rest_[at] > '9') {
                is_failed_ = true;
                return low;
            }
            number = number * 10 + (rest_[at] - '0');
        }
        rest_.remove_prefix(count);
        is_failed_ = is_failed_ || number < low || number > high;
        return number;
    }

    bool take(char c) {
        if (rest_.empty() || rest_.front() != c) {
            return false;
        }
        rest_.remove_prefix(1);
        return true;
    }

    void expect(char c) { is_failed_ = !take(c) || is_failed_; }

    /// Up to nine digits behind the point.
    std::int32_t fraction() {
        auto nanos = std::int32_t{0};
        auto count = 0;
        for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; ++count) {
            if (count < 9) {
                nanos = nanos * 10 + (rest_.front() - '0');
            }
            rest_.remove_prefix(1);
        }
        is_failed_ = is_failed_ || count == 0 || count > 9;
        for (; count < 9; ++count) {
            nanos *= 10;
        }
        return nanos;
    }

private:
    std::string_view rest_;
    bool is_failed_ = false;
};

std::int64_t days_of(TimestampReader& reader, bool& is_date) {
    using namespace std::chrono;
    auto of_year = year{reader.digits(4, 0, 9999)};
    reader.expect('-');
    auto of_month = month{static_cast<unsigned>(reader.digits(2, 1, 12))};
    reader.expect('-');
    auto date =
        year_month_day{of_year, of_month, day{static_cast<unsigned>(reader.digits(2, 1, 31))}};
    is_date = date.ok();
    return sys_days{date}.time_since_epoch().count();
}

std::int64_t offset_of(TimestampReader& reader) {
    if (reader.take('Z')) {
        return 0;
    }
    auto sign = reader.take('-') ? -1 : 1;
    if (sign == 1) {
        reader.expect('+');
    }
    auto hours = reader.digits(2, 0, 23);
    reader.expect(':');
    return sign * (hours * 3600 + reader.digits(2, 0, 59) * 60);
}

} // namespace

std::optional<Timestamp> parse_timestamp(std::string_view text) {
    auto reader = TimestampReader{text};
    auto is_date = false;
    auto days = days_of(reader, is_date);
    reader.expect('T');
    auto seconds = std::int64_t{reader.digits(2, 0, 23)} * 3600;
    reader.expect(':');
    seconds += reader.digits(2, 0, 59) * 60;
    reader.expect(':');
    seconds += reader.digits(2, 0, 59);
    auto nanos = reader.take('.') ? reader.fraction() : 0;
    seconds -= offset_of(reader);
    if (reader.is_failed() || !is_date || !reader.is_at_end()) {
        return std::nullopt;
    }
    return Timestamp{days * 86'400 + seconds, nanos};
}

Timestamp timestamp_of(Time time) {
    using namespace std::chrono;
    auto whole = floor<seconds>(time);
    return {whole.time_since_epoch().count(), static_cast<std::int32_t>((time - whole).count())};
}

} // namespace sluice::expr::states

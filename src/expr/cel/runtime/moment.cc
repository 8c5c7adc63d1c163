#include "expr/cel/runtime/moment.h"

#include <array>
#include <charconv>
#include <exception>
#include <limits>
#include <string>

#include <date/tz.h>

#include "expr/cel/runtime/arithmetic.h"

namespace sluice::expr::cel::runtime {
namespace {

__extension__ using UnsignedWide = unsigned __int128;

using namespace std::chrono_literals;

/// Takes a text apart from the front; once something was missing it stays failed.
class Reader {
public:
    explicit Reader(std::string_view text) : rest_{text} {}

    bool is_done() const { return is_good_ && rest_.empty(); }
    bool is_good() const { return is_good_; }

    bool take(char letter) {
        if (!rest_.starts_with(letter)) {
            return false;
        }
        rest_.remove_prefix(1);
        return true;
    }
    void expect(char letter) { is_good_ = take(letter) && is_good_; }

    std::string_view digits() {
        auto end = rest_.find_first_not_of("0123456789");
        auto found = rest_.substr(0, end);
        rest_.remove_prefix(found.size());
        return found;
    }

    int number(std::size_t width, int least, int most) {
        auto result = 0;
        auto found = rest_.substr(0, width);
        auto end = found.data() + found.size();
        auto read = std::from_chars(found.data(), end, result);
        is_good_ = is_good_ && found.size() == width && read.ptr == end && result >= least &&
                   result <= most && found.front() != '-';
        rest_.remove_prefix(found.size());
        return result;
    }

    /// The longest of these that stands here.
    template <typename Names>
    std::optional<std::size_t> one_of(const Names& names) {
        for (auto at = std::size_t{0}; at < names.size(); ++at) {
            if (rest_.starts_with(names[at])) {
                rest_.remove_prefix(names[at].size());
                return at;
            }
        }
        is_good_ = false;
        return std::nullopt;
    }

private:
    std::string_view rest_;
    bool is_good_ = true;
};

std::uint32_t nanos_of_fraction(std::string_view digits) {
    auto nanos = std::uint32_t{0};
    for (auto at = std::size_t{0}; at < 9; ++at) {
        nanos =
            nanos * 10 + (at < digits.size() ? static_cast<std::uint32_t>(digits[at] - '0') : 0);
    }
    return nanos;
}

/// `+01:00`; hours and minutes.
std::chrono::seconds read_offset(Reader& reader, bool is_negative) {
    auto hours = reader.number(2, 0, 23);
    reader.expect(':');
    auto minutes = reader.number(2, 0, 59);
    auto offset = std::chrono::hours{hours} + std::chrono::minutes{minutes};
    return is_negative ? -offset : offset;
}

/// One term of a duration, added to the sum of those before it.
bool add_term(Reader& reader, UnsignedWide& total) {
    constexpr auto units =
        std::array<std::string_view, 8>{"ns", "us", "\u00b5s", "\u03bcs", "ms", "h", "m", "s"};
    constexpr auto scales = std::array<std::uint64_t, 8>{
        1, 1'000, 1'000, 1'000, 1'000'000, 3'600'000'000'000, 60'000'000'000, 1'000'000'000};
    auto whole = reader.digits();
    auto fraction = std::string_view{};
    if (reader.take('.')) {
        fraction = reader.digits();
    }
    auto unit = reader.one_of(units);
    if (!unit || (whole.empty() && fraction.empty()) || whole.size() > 19) {
        return false;
    }
    auto number = std::uint64_t{0};
    if (!whole.empty()) {
        std::from_chars(whole.data(), whole.data() + whole.size(), number);
    }
    auto scale = scales[*unit];
    total += static_cast<UnsignedWide>(number) * scale;
    auto part = scale / 10; // What is below a nanosecond is cut off.
    auto rest = static_cast<UnsignedWide>(0);
    auto divisor = static_cast<UnsignedWide>(1);
    for (auto digit : fraction.substr(0, 15)) {
        rest = rest * 10 + static_cast<unsigned>(digit - '0');
        divisor *= 10;
    }
    total += part == 0 ? 0 : rest * scale / divisor;
    return total <= static_cast<UnsignedWide>(std::numeric_limits<std::uint64_t>::max());
}

} // namespace

std::optional<Moment> read_timestamp(std::string_view text) {
    auto reader = Reader{text};
    auto year = reader.number(4, 1, 9999);
    reader.expect('-');
    auto month = reader.number(2, 1, 12);
    reader.expect('-');
    auto day = reader.number(2, 1, 31);
    reader.expect('T');
    auto hour = reader.number(2, 0, 23);
    reader.expect(':');
    auto minute = reader.number(2, 0, 59);
    reader.expect(':');
    auto second = reader.number(2, 0, 59);
    auto nanos = std::uint32_t{0};
    if (reader.take('.')) {
        auto digits = reader.digits();
        if (digits.empty()) {
            return std::nullopt;
        }
        nanos = nanos_of_fraction(digits);
    }
    auto offset = 0s;
    if (!reader.take('Z')) {
        auto is_behind = reader.take('-');
        if (!is_behind) {
            reader.expect('+');
        }
        offset = read_offset(reader, is_behind);
    }
    auto date = std::chrono::year{year} / month / day;
    if (!reader.is_done() || !date.ok()) {
        return std::nullopt;
    }
    auto time = std::chrono::sys_days{date} + std::chrono::hours{hour} +
                std::chrono::minutes{minute} + std::chrono::seconds{second} - offset;
    auto moment = Moment{time.time_since_epoch().count(), nanos};
    return is_in_range(moment) ? std::optional{moment} : std::nullopt;
}

std::optional<std::int64_t> read_duration(std::string_view text) {
    auto is_negative = text.starts_with('-');
    if (is_negative || text.starts_with('+')) {
        text.remove_prefix(1);
    }
    if (text == "0") {
        return 0;
    }
    auto total = static_cast<UnsignedWide>(0);
    auto reader = Reader{text};
    do {
        if (!add_term(reader, total)) {
            return std::nullopt;
        }
    } while (!reader.is_done());
    auto limit = static_cast<UnsignedWide>(std::numeric_limits<std::int64_t>::max()) +
                 (is_negative ? 1U : 0U);
    if (total > limit) {
        return std::nullopt;
    }
    auto size = static_cast<std::uint64_t>(total);
    return static_cast<std::int64_t>(is_negative ? 0 - size : size);
}

std::optional<std::chrono::seconds> offset_of(std::string_view zone, Moment moment) {
    if (zone.empty() || zone == "UTC") {
        return 0s;
    }
    auto is_behind = zone.starts_with('-');
    auto reader = Reader{is_behind || zone.starts_with('+') ? zone.substr(1) : zone};
    auto fixed = read_offset(reader, is_behind);
    if (reader.is_done()) {
        return fixed;
    }
    try {
        const auto* found = date::locate_zone(std::string{zone});
        return found->get_info(date::sys_seconds{std::chrono::seconds{moment.seconds}}).offset;
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

} // namespace sluice::expr::cel::runtime

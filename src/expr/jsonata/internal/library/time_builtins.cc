#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "base/clock.h"
#include "expr/jsonata/internal/evaluator.h"
#include "expr/jsonata/internal/library/builtin.h"
#include "expr/jsonata/internal/picture/time_picture.h"
#include "expr/jsonata/internal/raise.h"
#include "expr/jsonata/internal/regex.h"

namespace sluice::expr::jsonata::internal {
namespace {

/// JavaScript's range of dates: 100 million days around 1970.
constexpr double millis_max = 8.64e15;

/// Minutes ahead of UTC, of "+0530" or "-0500".
int offset_of(const Item& zone) {
    if (!zone.is_string()) {
        return 0;
    }
    auto number = std::atoi(std::string{zone.as_text()}.c_str());
    return number / 100 * 60 + number % 100;
}

std::int64_t millis_of(Time time) {
    return std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
}

Item format(const Call& call, std::int64_t millis, const Item& picture, const Item& zone) {
    if (!picture.is_string()) {
        return call.evaluator.make_text(
            format_time(millis, TimePicture::iso8601(), offset_of(zone)));
    }
    call.evaluator.spend(picture.length);
    auto parsed = TimePicture::parse(picture.as_text());
    return call.evaluator.make_text(format_time(millis, parsed, offset_of(zone)));
}

Item run_from_millis(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto millis = std::trunc(call[0].as_double());
    if (!(std::abs(millis) <= millis_max)) {
        raise("D3110", "{} is no time in milliseconds", call[0].as_double());
    }
    return format(call, static_cast<std::int64_t>(millis), call[1], call[2]);
}

Item run_now(const Call& call) {
    return format(call, millis_of(call.evaluator.now()), call[0], call[1]);
}

Item run_millis(const Call& call) {
    return Item::of(millis_of(call.evaluator.now()));
}

constexpr auto iso_pattern =
    R"(^\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01])(T([01]\d|2[0-4]):[0-5]\d:[0-5]\d)"
    R"((\.\d+)?([+-][0-2]\d:?[0-5]\d|Z)?)?)?)?$)";

/// The forms of ISO 8601 that are read without a picture, longest first.
constexpr auto iso_pictures = std::to_array<std::string_view>({
    "[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01].[f1][Z01:01t]",
    "[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01].[f1][Z0001]",
    "[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01].[f1]",
    "[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01][Z01:01t]",
    "[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01][Z0001]",
    "[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01]",
    "[Y0001]-[M01]-[D01]",
    "[Y0001]-[M01]",
    "[Y0001]",
});

Item run_to_millis(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto text = call[0].as_text();
    auto now = millis_of(call.evaluator.now());
    auto spend = [&](std::size_t steps) { call.evaluator.spend(steps); };
    if (call[1].is_string()) {
        call.evaluator.spend(call[1].length);
        auto picture = TimePicture::parse(call[1].as_text());
        auto parsed = parse_time(text, picture, now, spend);
        return parsed ? Item::of(*parsed) : Item{};
    }
    static const auto pictures = [] {
        auto parsed = std::vector<TimePicture>{};
        for (auto picture : iso_pictures) {
            parsed.push_back(TimePicture::parse(picture));
        }
        return parsed;
    }();
    static const auto pattern = Regex{iso_pattern, ""};
    auto is_iso = pattern.search(text, 0, spend).has_value();
    for (const auto& picture : pictures) {
        if (!is_iso) {
            break;
        }
        if (auto parsed = parse_time(text, picture, now, spend)) {
            return Item::of(*parsed);
        }
    }
    raise("D3110",
          "the argument of the toMillis function must be an ISO 8601 formatted timestamp. Given "
          "\"{}\"",
          text);
}

} // namespace

Time Evaluator::now() {
    if (!now_) {
        now_ = SystemClock{}.wall();
    }
    return *now_;
}

std::span<const Builtin> time_builtins() {
    static constexpr auto builtins = std::to_array<Builtin>({
        {"fromMillis", "<n-s?s?:s>", 3, run_from_millis},
        {"toMillis", "<s-s?:n>", 2, run_to_millis},
        {"now", "<s?s?:s>", 2, run_now},
        {"millis", "<:n>", 0, run_millis},
    });
    return builtins;
}

} // namespace sluice::expr::jsonata::internal

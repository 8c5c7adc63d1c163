#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "workflow/asl/internal/read/fields.h"
#include "workflow/asl/internal/read/reading.h"

namespace sluice::workflow::asl::internal {

namespace {

constexpr auto everything = std::string_view{"States.ALL"};
constexpr auto delay_seconds_bound = std::int64_t{31'622'400};
constexpr auto attempts_bound = std::int64_t{99'999'999};
constexpr auto interval_bound = std::int64_t{99'999'999};

std::vector<std::string> read_errors(const Object& rule, bool is_last) {
    constexpr auto field = std::string_view{"ErrorEquals"};
    auto errors = std::vector<std::string>{};
    auto list = rule.list(field);
    if (list && list->empty()) {
        rule.refuse(field, "The field 'ErrorEquals' must name at least one error");
    }
    auto index = std::size_t{0};
    for (const auto& item : list.value_or(std::span<const Value>{})) {
        auto place = join(rule.at(field), index++);
        if (!item.is_string() || item.as_string().empty()) {
            rule.report().add(place, "An item of 'ErrorEquals' must be the name of an error");
            continue;
        }
        errors.emplace_back(item.as_string());
    }
    auto has_all = std::ranges::find(errors, everything) != errors.end();
    if (has_all && errors.size() > 1) {
        rule.refuse(field, "'States.ALL' must stand alone in 'ErrorEquals'");
    }
    if (has_all && !is_last) {
        rule.refuse(field, "'States.ALL' must be in the last of the retriers or catchers");
    }
    return errors;
}

Retrier read_retrier(const Object& rule, bool is_last) {
    rule.allow_only({"ErrorEquals", "IntervalSeconds", "MaxAttempts", "BackoffRate",
                     "MaxDelaySeconds", "JitterStrategy", "Comment"});
    rule.require({"ErrorEquals"});
    auto retrier = Retrier{.errors = read_errors(rule, is_last)};
    auto interval = rule.whole("IntervalSeconds", {.min = 1, .max = interval_bound}).value_or(1);
    auto delay = rule.whole("MaxDelaySeconds", {.min = 1, .max = delay_seconds_bound - 1});
    retrier.interval_seconds = static_cast<std::uint32_t>(interval);
    retrier.attempts_max = static_cast<std::uint32_t>(
        rule.whole("MaxAttempts", {.min = 0, .max = attempts_bound}).value_or(3));
    if (delay) {
        retrier.delay_seconds_max = static_cast<std::uint32_t>(*delay);
        if (*delay <= interval) {
            rule.refuse("MaxDelaySeconds",
                        fmt::format("The field 'MaxDelaySeconds' must be greater than "
                                    "'IntervalSeconds', which is {}",
                                    interval));
        }
    }
    if (const auto* rate = rule.find("BackoffRate")) {
        auto whole = whole_of(*rate);
        auto given = whole               ? static_cast<double>(*whole)
                     : rate->is_double() ? rate->as_double()
                                         : 0;
        if (!(given >= 1)) {
            rule.refuse("BackoffRate", "The field 'BackoffRate' must be a number of at least 1.0");
        }
        retrier.backoff_rate = given;
    }
    retrier.has_full_jitter = rule.word("JitterStrategy", {"FULL", "NONE"}) == "FULL";
    return retrier;
}

Catcher read_catcher(StateSite& site, const Object& rule, bool is_last) {
    auto has_paths = site.language() == Language::JsonPath;
    if (has_paths) {
        rule.allow_only({"ErrorEquals", "Next", "ResultPath", "Assign", "Comment"});
    } else {
        rule.allow_only({"ErrorEquals", "Next", "Output", "Assign", "Comment"});
    }
    rule.require({"ErrorEquals", "Next"});
    auto inside = TemplateSite{.language = site.language(), .has_error_output = true};
    return {.errors = read_errors(rule, is_last),
            .next = read_target(site, rule, "Next").value_or(0),
            .result_path = has_paths ? read_result_path(rule) : ResultPath{},
            .output = has_paths ? std::nullopt : read_template(rule, "Output", inside),
            .assign = read_assign(rule, inside)};
}

} // namespace

void read_retry(StateSite& site) {
    site.object.each_object("Retry", [&](const Object& rule, bool is_last) {
        site.state.retry.push_back(read_retrier(rule, is_last));
    });
}

void read_catch(StateSite& site) {
    site.object.each_object("Catch", [&](const Object& rule, bool is_last) {
        site.state.catches.push_back(read_catcher(site, rule, is_last));
    });
}

} // namespace sluice::workflow::asl::internal

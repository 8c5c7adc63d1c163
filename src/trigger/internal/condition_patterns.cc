#include <algorithm>

#include <fmt/format.h>

#include "trigger/form_reader.h"
#include "trigger/internal/condition_factories.h"

namespace sluice::trigger::internal {

namespace {

constexpr auto all_patterns_max = std::size_t{64};

/// Fires when each pattern has been met. Progress has a bit for each.
class All final : public Condition {
public:
    explicit All(std::size_t patterns)
        : complete_(~std::uint64_t{0} >> (all_patterns_max - patterns)) {}

    Verdict evaluate(const ConditionInput& input) const override {
        auto progress = input.state.progress;
        for (auto pattern : input.patterns) {
            progress |= std::uint64_t{1} << pattern;
        }
        return progress == complete_ ? fires(progress) : waits(progress);
    }

private:
    std::uint64_t complete_;
};

enum class Strictness : std::uint8_t { Lenient, Strict };

/// Fires when the patterns have been met one after the other. Progress is how many have been.
class Sequence final : public Condition {
public:
    Sequence(std::size_t patterns, Strictness strictness)
        : patterns_(patterns), strictness_(strictness) {}

    Verdict evaluate(const ConditionInput& input) const override {
        auto is_met = [&](std::uint64_t pattern) {
            return std::ranges::find(input.patterns, pattern) != input.patterns.end();
        };
        auto progress = input.state.progress;
        if (is_met(progress)) {
            ++progress;
        } else if (strictness_ == Strictness::Strict) {
            progress = is_met(0) ? 1 : 0;
        }
        return progress == patterns_ ? fires(progress) : waits(progress);
    }

private:
    std::size_t patterns_;
    Strictness strictness_;
};

} // namespace

ConditionPtr make_all(const Value& params, const ConditionSite& site, Problems& problems) {
    refuse_params(params, problems);
    if (site.patterns == 0 || site.patterns > all_patterns_max) {
        report(problems, "",
               fmt::format("found {} patterns in `on`, expected 1 to {}", site.patterns,
                           all_patterns_max));
        return nullptr;
    }
    return std::make_shared<All>(site.patterns);
}

ConditionPtr make_sequence(const Value& params, const ConditionSite& site, Problems& problems) {
    auto strictness = Strictness::Lenient;
    if (!params.is_null()) {
        auto reader = FormReader{params, "", problems, {"strict"}};
        strictness =
            reader.boolean("strict").value_or(false) ? Strictness::Strict : Strictness::Lenient;
    }
    if (site.patterns == 0) {
        report(problems, "", "found no patterns in `on`, expected at least one");
        return nullptr;
    }
    return std::make_shared<Sequence>(site.patterns, strictness);
}

} // namespace sluice::trigger::internal

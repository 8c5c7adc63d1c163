#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "trigger/spec.h"

namespace sluice::trigger::internal {

// The names of choices as authors write them, for reading and for writing.

inline constexpr std::pair<std::string_view, Lifetime> lifetime_names[] = {
    {"transient", Lifetime::Transient}, {"persistent", Lifetime::Persistent}};
inline constexpr std::pair<std::string_view, WhileDisabled> while_disabled_names[] = {
    {"park", WhileDisabled::Park}, {"miss", WhileDisabled::Miss}};
inline constexpr std::pair<std::string_view, OnError> on_error_names[] = {
    {"fail", OnError::Fail}, {"skip", OnError::Skip}, {"park", OnError::Park}};
inline constexpr std::pair<std::string_view, InterceptWhen> intercept_when_names[] = {
    {"before", InterceptWhen::Before},
    {"after", InterceptWhen::After},
    {"instead", InterceptWhen::Instead}};
/// A window is written as a map.
inline constexpr std::pair<std::string_view, DedupeMode> dedupe_names[] = {
    {"run", DedupeMode::Run}, {"none", DedupeMode::None}, {"sequence", DedupeMode::Sequence}};
inline constexpr std::pair<std::string_view, KeptFull> kept_full_names[] = {
    {"refuse", KeptFull::Refuse},
    {"back-pressure", KeptFull::BackPressure},
    {"fail", KeptFull::Fail}};
/// One with a limit is written as a map.
inline constexpr std::pair<std::string_view, StrategyKind> strategy_names[] = {
    {"parallel", StrategyKind::Parallel},
    {"sequential", StrategyKind::Sequential},
    {"first_only", StrategyKind::FirstOnly},
    {"last_only", StrategyKind::LastOnly},
    {"latest_only", StrategyKind::LatestOnly}};
inline constexpr std::pair<std::string_view, bool> unmatched_names[] = {{"keep", true},
                                                                        {"drop", false}};

template <typename Enum, std::size_t size>
std::string_view name_in(const std::pair<std::string_view, Enum> (&table)[size], Enum choice) {
    for (const auto& [name, candidate] : table) {
        if (candidate == choice) {
            return name;
        }
    }
    return {};
}

} // namespace sluice::trigger::internal

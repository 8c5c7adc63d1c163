#include "trigger/internal/filter_index.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "event/event_view.h"

namespace sluice::trigger {

namespace {

using expr::cel::Constraint;

/// Numbers below this are what they are in every kind, so that equal ones have one key.
constexpr auto exact_number_max = 0x1p53;

std::optional<Fingerprint> key_of_number(double number) {
    auto is_exact = std::trunc(number) == number && std::fabs(number) < exact_number_max;
    return is_exact
               ? std::optional{fingerprint("n", std::to_string(static_cast<std::int64_t>(number)))}
               : std::nullopt;
}

/// Equal values have equal keys; nothing where no constant that has a key can equal the value.
std::optional<Fingerprint> key_of(const Value& value) {
    switch (value.kind()) {
        case value::Kind::String: return fingerprint("s", value.as_string());
        case value::Kind::Bool: return fingerprint("b", value.as_bool() ? "1" : "0");
        case value::Kind::Int: return key_of_number(static_cast<double>(value.as_int()));
        case value::Kind::Uint: return key_of_number(static_cast<double>(value.as_uint()));
        case value::Kind::Double: return key_of_number(value.as_double());
        default: return std::nullopt;
    }
}

bool can_look_up(const Constraint& demand) {
    auto is_of_event = demand.path.front() == "event" || demand.path.front() == "data";
    return is_of_event && demand.path.size() > 1 &&
           std::ranges::all_of(demand.constants,
                               [](const Value& each) { return key_of(each).has_value(); });
}

/// The more constants a demand tells apart, the better: equality before prefixes, data and further
/// attributes before what patterns tell apart already.
const Constraint* best_of(const std::vector<Constraint>& demands) {
    const auto* best = static_cast<const Constraint*>(nullptr);
    auto worth_most = -1;
    for (const auto& demand : demands) {
        auto is_in_pattern = demand.path.size() == 2 && demand.path[0] == "event" &&
                             (demand.path[1] == "type" || demand.path[1] == "subject");
        auto worth = (demand.form == Constraint::Form::Equals ? 2 : 0) + (is_in_pattern ? 0 : 1);
        if (can_look_up(demand) && worth > worth_most) {
            best = &demand;
            worth_most = worth;
        }
    }
    return best;
}

void append_all(const std::vector<Match>& found, Matches& out) {
    out.insert(out.end(), found.begin(), found.end());
}

} // namespace

std::uint32_t FilterIndex::group_of(const Pattern& pattern, const Constraint& demand) {
    auto key =
        GroupKey{pattern.type.to_text(), pattern.subject.to_text(), demand.path, demand.form};
    auto [found, is_new] =
        numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(groups_.size()));
    if (is_new) {
        groups_.push_back({.path = demand.path, .form = demand.form});
        patterns_.add(pattern, {.trigger = TriggerNumber{found->second}, .pattern = 0});
    }
    return found->second;
}

bool FilterIndex::add(const Pattern& pattern, const std::vector<Constraint>& demands, Match match) {
    const auto* demand = best_of(demands);
    if (demand == nullptr) {
        return false;
    }
    auto& group = groups_[group_of(pattern, *demand)];
    group.all.push_back(match);
    for (const auto& constant : demand->constants) {
        auto& matches = group.by_constant[*key_of(constant)];
        // `1 in [1, 1.0]`: one key.
        if (matches.empty() || matches.back() != match) {
            matches.push_back(match);
        }
        if (demand->form == Form::StartsWith) {
            ++group.prefix_sizes[constant.size()];
        }
    }
    return true;
}

void FilterIndex::append(event::EventView& event, Matches& out) const {
    auto found = Matches{};
    patterns_.find(event.event().type(), event.event().subject(), found);
    for (const auto& match : found) {
        append(groups_[match.trigger.raw()], event, out);
    }
}

void FilterIndex::append(const Group& group, event::EventView& event, Matches& out) {
    auto path = std::vector<std::string_view>{group.path.begin(), group.path.end()};
    auto value = event.at(path);
    auto is_text = value && value->is_string();
    // Filters fault where the path is missing, and startsWith does at what is no text.
    if (!value || (group.form == Form::StartsWith && !is_text)) {
        return append_all(group.all, out);
    }
    auto look_up = [&](const std::optional<Fingerprint>& key) {
        auto found = key ? group.by_constant.find(*key) : group.by_constant.end();
        if (found != group.by_constant.end()) {
            append_all(found->second, out);
        }
    };
    if (group.form == Form::Equals) {
        return look_up(key_of(*value));
    }
    for (const auto& [size, count] : group.prefix_sizes) {
        if (size <= value->size()) {
            look_up(key_of(Value{value->as_string().substr(0, size)}));
        }
    }
}

} // namespace sluice::trigger

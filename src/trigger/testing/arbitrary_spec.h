#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <rapidcheck.h>

#include "trigger/spec.h"
#include "value/testing/arbitrary.h"

namespace sluice::trigger::testing {

/// Short texts of few letters, so that exact ones and prefixes meet often.
inline rc::Gen<std::string> arbitrary_word() {
    return rc::gen::scale(0.05, rc::gen::container<std::string>(rc::gen::element('a', 'b', '/')));
}

inline TextPattern text_pattern(TextPattern::Kind kind, std::string text) {
    auto is_any =
        kind == TextPattern::Kind::Any || (kind == TextPattern::Kind::Prefix && text.empty());
    return is_any ? TextPattern{} : TextPattern{.kind = kind, .text = std::move(text)};
}

inline rc::Gen<TextPattern> arbitrary_text_pattern() {
    return rc::gen::apply(text_pattern,
                          rc::gen::element(TextPattern::Kind::Any, TextPattern::Kind::Exact,
                                           TextPattern::Kind::Prefix),
                          arbitrary_word());
}

/// One that an event can meet: its type is not the empty text.
inline rc::Gen<Pattern> arbitrary_pattern() {
    auto pattern = rc::gen::construct<Pattern>(arbitrary_text_pattern(), arbitrary_text_pattern());
    return rc::gen::suchThat(pattern, [](const Pattern& candidate) {
        return candidate.type.kind == TextPattern::Kind::Any || !candidate.type.text.empty();
    });
}

inline rc::Gen<Value> arbitrary_map_or_null() {
    auto values = rc::gen::container<std::vector<Value>>(value::testing::arbitrary_value());
    return rc::gen::map(
        rc::gen::pair(rc::gen::scale(0.05, values), rc::gen::arbitrary<bool>()), [](auto pair) {
            auto members = std::vector<value::Member>{};
            for (auto& item : pair.first) {
                members.push_back({"k" + std::to_string(members.size()), std::move(item)});
            }
            return pair.second ? Value::map(std::move(members)) : Value{};
        });
}

inline rc::Gen<Term> arbitrary_term() {
    return rc::gen::construct<Term>(
        rc::gen::element<std::string>("always", "count", "emit", "a longer name, é"),
        value::testing::arbitrary_value());
}

template <typename Item>
rc::Gen<std::vector<Item>> a_few(rc::Gen<Item> item) {
    return rc::gen::scale(0.05, rc::gen::container<std::vector<Item>>(std::move(item)));
}

/// Valid by itself, under this id; intercepts `target` (any id that is there) in one of three
/// cases.
inline TriggerSpec draw_trigger(const std::string& id, const std::string& target) {
    auto spec = TriggerSpec{};
    spec.id = id;
    spec.on = *a_few(arbitrary_pattern());
    spec.filter = *rc::gen::element<std::string>("", "event.data.size > 10", "tr\"ue\n");
    spec.condition = *arbitrary_term();
    spec.actions = *a_few(arbitrary_term());
    spec.context = *arbitrary_map_or_null();
    spec.lifetime = *rc::gen::element(Lifetime::Transient, Lifetime::Persistent);
    spec.is_enabled = *rc::gen::arbitrary<bool>();
    spec.while_disabled = *rc::gen::element(WhileDisabled::Park, WhileDisabled::Miss);
    spec.on_error = *rc::gen::element(OnError::Fail, OnError::Skip, OnError::Park);
    auto when =
        *rc::gen::element(InterceptWhen::Before, InterceptWhen::After, InterceptWhen::Instead);
    auto kind = *rc::gen::inRange(0, 3);
    if (kind == 1 && !target.empty()) {
        spec.intercept = Intercept{.trigger = target, .condition = "", .when = when};
    } else if (kind == 2) {
        spec.intercept = Intercept{.trigger = "", .condition = "count", .when = when};
    } else if (spec.on.empty()) {
        spec.on.push_back({});
    }
    return spec;
}

inline Nanos draw_duration() {
    return Nanos{*rc::gen::element(0L, 1L, 999L, 30'000'000'000L, 5'400'000'000'001L, INT64_MAX)};
}

inline SetSpec draw_set() {
    auto spec = SetSpec{};
    spec.name = *rc::gen::element<std::string>("a", "orders-2.v_1", std::string(100, 'x'));
    auto count = *rc::gen::inRange(1, 4);
    for (auto index = 0; index < count; ++index) {
        // Each intercepts one before it, so that there is no cycle.
        auto target = index == 0 ? std::string{} : spec.triggers.back().id;
        spec.triggers.push_back(draw_trigger("t " + std::to_string(index), target));
    }
    spec.keeps_unmatched = *rc::gen::arbitrary<bool>();
    spec.dedupe = *rc::gen::element(DedupeMode::Run, DedupeMode::Window, DedupeMode::Sequence,
                                    DedupeMode::None);
    if (spec.dedupe == DedupeMode::Window) {
        spec.dedupe_window = std::max(draw_duration(), Nanos{1});
    }
    spec.timeout = draw_duration();
    spec.cancel_grace = draw_duration();
    spec.retention = draw_duration();
    spec.kept_max = *rc::gen::element<std::uint32_t>(0, 10'000, UINT32_MAX);
    spec.kept_bytes_max = *rc::gen::element<std::uint64_t>(0, 1, INT64_MAX, UINT64_MAX);
    spec.kept_full = *rc::gen::element(KeptFull::Refuse, KeptFull::BackPressure, KeptFull::Fail);
    spec.kept_ttl = draw_duration();
    spec.context = *arbitrary_map_or_null();
    return spec;
}

} // namespace sluice::trigger::testing

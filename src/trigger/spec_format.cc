#include "trigger/internal/spec_names.h"
#include "trigger/spec.h"
#include "value/time_text.h"

namespace sluice::trigger {

namespace {

using value::Member;

Value to_form(const Pattern& pattern) {
    if (pattern.subject.kind == TextPattern::Kind::Any) {
        return pattern.type.to_text();
    }
    return Value::object(
        {{"type", pattern.type.to_text()}, {"subject", pattern.subject.to_text()}});
}

Value to_form(const Term& term) {
    return term.params.is_null() ? Value{term.name} : Value::object({{term.name, term.params}});
}

Value to_form(const Intercept& intercept) {
    auto target = intercept.trigger.empty() ? Member{"condition", intercept.condition}
                                            : Member{"trigger", intercept.trigger};
    return Value::object(
        {target, {"when", internal::name_in(internal::intercept_when_names, intercept.when)}});
}

Value to_form(std::uint64_t number) {
    return number <= INT64_MAX ? Value{static_cast<std::int64_t>(number)} : Value{number};
}

Value to_form(Nanos duration) {
    return value::format_duration(duration);
}

/// One item stands for itself, as authors write it.
template <typename Item>
Value list_form(const std::vector<Item>& items) {
    if (items.size() == 1) {
        return to_form(items.front());
    }
    auto forms = std::vector<Value>{};
    forms.reserve(items.size());
    for (const auto& item : items) {
        forms.push_back(to_form(item));
    }
    return Value::list(std::move(forms));
}

/// Members of a map under way. What is as by default is left out, as authors do.
class Form {
public:
    void add(std::string_view name, Value value) {
        members_.push_back({std::string{name}, std::move(value)});
    }
    template <typename T>
    void add_unless(std::string_view name, const T& value, const T& usual) {
        if (value != usual) {
            add(name, to_form(value));
        }
    }
    template <typename Enum, std::size_t size>
    void add_choice(std::string_view name, const std::pair<std::string_view, Enum> (&table)[size],
                    Enum value, Enum usual) {
        if (value != usual) {
            add(name, internal::name_in(table, value));
        }
    }
    void add_map(std::string_view name, const Value& map) {
        if (!map.is_null()) {
            add(name, map);
        }
    }
    bool is_empty() const { return members_.empty(); }
    Value value() && { return Value::map(std::move(members_)); }

private:
    std::vector<Member> members_;
};

void add_kept(const SetSpec& spec, const SetSpec& usual, Form& form) {
    auto kept = Form{};
    kept.add_unless<std::uint64_t>("max", spec.kept_max, usual.kept_max);
    kept.add_unless("bytes", spec.kept_bytes_max, usual.kept_bytes_max);
    kept.add_choice("full", internal::kept_full_names, spec.kept_full, usual.kept_full);
    kept.add_unless("ttl", spec.kept_ttl, usual.kept_ttl);
    if (!kept.is_empty()) {
        form.add("kept", std::move(kept).value());
    }
}

} // namespace

Value to_form(const TriggerSpec& spec) {
    const auto usual = TriggerSpec{};
    auto form = Form{};
    form.add("id", spec.id);
    if (!spec.on.empty()) {
        form.add("on", list_form(spec.on));
    }
    if (!spec.filter.empty()) {
        form.add("filter", spec.filter);
    }
    form.add_unless("condition", spec.condition, usual.condition);
    if (!spec.actions.empty()) {
        form.add("action", list_form(spec.actions));
    }
    form.add_map("context", spec.context);
    form.add_choice("lifetime", internal::lifetime_names, spec.lifetime, usual.lifetime);
    if (!spec.is_enabled) {
        form.add("enabled", false);
    }
    form.add_choice("while_disabled", internal::while_disabled_names, spec.while_disabled,
                    usual.while_disabled);
    form.add_choice("on_error", internal::on_error_names, spec.on_error, usual.on_error);
    if (spec.intercept) {
        form.add("intercept", to_form(*spec.intercept));
    }
    return std::move(form).value();
}

Value to_form(const Strategy& strategy) {
    auto name = std::string{internal::name_in(internal::strategy_names, strategy.kind)};
    return strategy.limit == 0 ? Value{name}
                               : Value::object({{name, to_form(std::uint64_t{strategy.limit})}});
}

Value to_form(const SetSpec& spec) {
    const auto usual = SetSpec{};
    auto form = Form{};
    form.add("name", spec.name);
    form.add_choice("unmatched", internal::unmatched_names, spec.keeps_unmatched,
                    usual.keeps_unmatched);
    if (spec.dedupe == DedupeMode::Window) {
        form.add("dedupe", Value::object({{"window", to_form(spec.dedupe_window)}}));
    } else {
        form.add_choice("dedupe", internal::dedupe_names, spec.dedupe, usual.dedupe);
    }
    form.add_unless("timeout", spec.timeout, usual.timeout);
    form.add_unless("cancel_grace", spec.cancel_grace, usual.cancel_grace);
    form.add_unless("retention", spec.retention, usual.retention);
    add_kept(spec, usual, form);
    form.add_map("context", spec.context);
    if (!spec.input.is_null()) {
        form.add("input", spec.input);
    }
    form.add_unless("strategy", spec.strategy, usual.strategy);
    auto triggers = std::vector<Value>{};
    triggers.reserve(spec.triggers.size());
    for (const auto& trigger : spec.triggers) {
        triggers.push_back(to_form(trigger));
    }
    form.add("triggers", Value::list(std::move(triggers)));
    return std::move(form).value();
}

} // namespace sluice::trigger

#include "workflow/dag/internal/settings.h"

#include <utility>

#include <fmt/format.h>

#include "trigger/form_reader.h"
#include "trigger/trigger_set.h"

namespace sluice::workflow::dag::internal {

namespace {

using trigger::describe;
using trigger::FormReader;
using trigger::join_path;
using trigger::report;

constexpr std::pair<std::string_view, OnError> on_error_names[] = {
    {"fail", OnError::Fail}, {"skip", OnError::Skip}, {"halt", OnError::Halt}};

std::vector<std::string> texts_in(const Value* list) {
    auto texts = std::vector<std::string>{};
    if (list != nullptr && list->is_list()) {
        for (const auto& item : list->as_list()) {
            texts.emplace_back(item.is_string() ? item.as_string() : "");
        }
    } else if (list != nullptr && list->is_string()) {
        texts.emplace_back(list->as_string());
    }
    return texts;
}

void read_rule(const Value& form, Settings& settings) {
    const auto* rule = form.find("rule");
    if (rule == nullptr) {
        return;
    }
    if (const auto* needed = rule->find("k_of_n")) {
        settings.rule = Rule::KOfN;
        settings.needed = trigger::as_count(*needed).value_or(1);
    } else if (rule->is_string()) {
        auto name = rule->as_string();
        settings.rule = name == "all_done"      ? Rule::AllDone
                        : name == "one_success" ? Rule::OneSuccess
                        : name == "none_failed" ? Rule::NoneFailed
                        : name == "caught"      ? Rule::Caught
                                                : Rule::AllSuccess;
    }
}

std::vector<Catch> read_catches(const Value* form) {
    auto catches = std::vector<Catch>{};
    auto add = [&](const Value& item) {
        const auto* task = item.is_map() ? item.find("task") : &item;
        if (task != nullptr && task->is_string()) {
            catches.push_back({.kinds = texts_in(item.is_map() ? item.find("on") : nullptr),
                               .handler = std::string{task->as_string()}});
        }
    };
    if (form != nullptr && form->is_list()) {
        for (const auto& item : form->as_list()) {
            add(item);
        }
    } else if (form != nullptr) {
        add(*form);
    }
    return catches;
}

Nanos read_deadline(const Value& form, Problems& problems) {
    const auto* member = form.find("deadline");
    auto deadline = member == nullptr ? Nanos{0} : trigger::as_duration(*member).value_or(Nanos{0});
    if (member != nullptr && deadline == Nanos{0}) {
        report(problems, "deadline",
               fmt::format("found {}, expected a duration above zero, such as \"10m\"",
                           describe(*member)));
    }
    return deadline;
}

OnError read_on_error(const Value& form, Problems& problems) {
    const auto* member = form.find("on_error");
    if (member == nullptr) {
        return OnError::Fail;
    }
    for (const auto& [name, choice] : on_error_names) {
        if (*member == Value{name}) {
            return choice;
        }
    }
    report(problems, "on_error",
           fmt::format("found {}, expected fail, skip or halt", describe(*member)));
    return OnError::Fail;
}

std::optional<Undo> read_undo(const Value& form, ExpressionSite site, Problems& problems) {
    const auto* member = form.find("on_failure");
    if (member == nullptr) {
        return std::nullopt;
    }
    auto reader = FormReader{*member,
                             "on_failure",
                             problems,
                             {"call", "input", "timeout", "retry", "priority", "pool", "slots"}};
    auto function = reader.text("call");
    if (!function) {
        reader.expect("call", "the function that undoes what this task did");
        return std::nullopt;
    }
    site.names.emplace_back("result");
    return Undo{.function = *function,
                .input = read_template(*member, "input", "on_failure", site, problems),
                .policy = read_policy(*member, "on_failure", problems)};
}

/// Each text that is wrong, at its own place.
void report_texts(const Value& pattern, const std::string& path, const ExpressionSite& site,
                  Problems& problems) {
    if (pattern.is_list()) {
        for (auto at = std::size_t{0}; at < pattern.size(); ++at) {
            report_texts(pattern.as_list()[at], join_path(path, at), site, problems);
        }
    } else if (pattern.is_map()) {
        for (const auto& [key, inner] : pattern.as_map()) {
            report_texts(inner, join_path(path, key), site, problems);
        }
    } else if (auto compiled = Template::compile(pattern, site); !compiled) {
        report(problems, path, expr::describe(compiled.error()));
    }
}

} // namespace

ExpressionSite read_site(const Value& form) {
    auto site = ExpressionSite{.names = {"input", "tasks", "context", "run", "now"}};
    if (const auto* lang = form.find("lang"); lang != nullptr && *lang == Value{"jsonata"}) {
        site.language = Language::Jsonata;
    }
    for (auto& name : texts_in(form.find("names"))) {
        site.names.push_back(std::move(name));
    }
    return site;
}

Template read_template(const Value& form, std::string_view member, const std::string& path,
                       const ExpressionSite& site, Problems& problems) {
    const auto* pattern = form.find(member);
    if (pattern == nullptr) {
        return {};
    }
    auto compiled = Template::compile(*pattern, site);
    if (!compiled) {
        auto place = path.empty() ? std::string{member} : join_path(path, member);
        report_texts(*pattern, place, site, problems);
        return {};
    }
    return *std::move(compiled);
}

Value read_policy(const Value& form, const std::string& path, Problems& problems) {
    static const auto invoke = trigger::built_in_actions().at("invoke");
    auto policy = std::vector<value::Member>{};
    auto check = [&](std::string_view name, const Value& member, const std::string& place) {
        auto found = Problems{};
        invoke(Value::object({{"function", "f"}, {std::string{name}, member}}),
               {.expressions = trigger::expression_names()}, found);
        for (auto& problem : found) {
            auto rest = problem.path.substr(std::min(name.size(), problem.path.size()));
            const auto* inner = rest.empty() ? &member : member.find(rest.substr(1));
            auto is_told = inner == nullptr || problem.message.starts_with("unknown");
            report(problems, place + rest,
                   is_told ? problem.message
                           : fmt::format("found {}, {}", describe(*inner), problem.message));
        }
    };
    if (form.find("slots") != nullptr && form.find("pool") == nullptr) {
        report(problems, path.empty() ? std::string{"slots"} : join_path(path, "slots"),
               "are those of a pool: expected pool too");
    }
    for (const auto* name : {"timeout", "retry", "priority", "pool", "slots"}) {
        const auto* member = form.find(name);
        if (member == nullptr) {
            continue;
        }
        auto place = path.empty() ? std::string{name} : join_path(path, name);
        if (member->is_list()) {
            for (auto at = std::size_t{0}; at < member->size(); ++at) {
                check(name, member->as_list()[at], join_path(place, at));
            }
        } else {
            check(name, *member, place);
        }
        policy.push_back({name, *member});
    }
    return policy.empty() ? Value{} : Value::map(std::move(policy));
}

Value with_large(const Value& task, Value policy) {
    const auto* large = task.find("large");
    if (large == nullptr) {
        return policy;
    }
    return (policy.is_map() ? std::move(policy) : Value::map({})).with("large", *large);
}

Settings read_settings(const Value& form, const std::shared_ptr<const Operators>& operators,
                       Problems& problems) {
    auto settings = Settings{};
    auto site = read_site(form);
    read_rule(form, settings);
    if (const auto* upstream = form.find("of")) {
        settings.upstream = static_cast<std::uint32_t>(trigger::as_count(*upstream).value_or(0));
    }
    settings.prefixes = texts_in(form.find("within"));
    if (const auto* when = form.find("when")) {
        auto text = when->is_bool() ? Value{when->as_bool() ? "true" : "false"} : *when;
        if (!text.is_string()) {
            report(problems, "when",
                   fmt::format("found {}, expected an expression such as ${{input.size > 10}}",
                               describe(*when)));
        } else if (auto compiled = Template::compile_condition(text.as_string(), site)) {
            settings.when = *std::move(compiled);
        } else {
            report(problems, "when", expr::describe(compiled.error()));
        }
    }
    settings.deadline = read_deadline(form, problems);
    settings.on_error = read_on_error(form, problems);
    settings.catches = read_catches(form.find("catch"));
    settings.undo = read_undo(form, site, problems);
    settings.site = site;
    settings.operators = operators;
    for (const auto& [name, kind] : *operators) {
        if (form.find(name) != nullptr) {
            settings.work = kind.make(form, site, problems);
            break;
        }
    }
    return settings;
}

} // namespace sluice::workflow::dag::internal

#include "trigger/spec.h"

#include <algorithm>

#include <fmt/format.h>

#include "trigger/form_reader.h"
#include "trigger/internal/interceptors.h"
#include "trigger/internal/spec_names.h"

namespace sluice::trigger {

namespace {

constexpr auto triggers_max = std::size_t{1'000'000};
constexpr auto patterns_max = std::size_t{10'000'000};
constexpr auto name_bytes_max = std::size_t{200};
constexpr auto set_name_bytes_max = std::size_t{100};
constexpr auto pattern_bytes_max = std::size_t{1024};
constexpr auto error_problems_max = std::size_t{10};

using Problems = std::vector<Problem>;

bool is_control(char letter) {
    auto code = static_cast<unsigned char>(letter);
    return code < 0x20 || code == 0x7F;
}

bool is_name(std::string_view text) {
    return !text.empty() && text.size() <= name_bytes_max && std::ranges::none_of(text, is_control);
}

bool is_id(std::string_view text) {
    return is_name(text) && !text.contains('/');
}

bool is_set_name(std::string_view text) {
    auto is_allowed = [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               (letter >= '0' && letter <= '9') || letter == '.' || letter == '_' || letter == '-';
    };
    return !text.empty() && text.size() <= set_name_bytes_max &&
           std::ranges::all_of(text, is_allowed);
}

/// A member that may be one thing or a list of them; calls `parse` with each and its path.
template <typename Parse>
void for_each_item(const Value& one_or_list, const std::string& path, const Problems& problems,
                   Parse parse) {
    if (!one_or_list.is_list()) {
        parse(one_or_list, path);
        return;
    }
    auto index = std::size_t{0};
    for (const auto& item : one_or_list.as_list()) {
        if (problems.size() >= problems_max) {
            return;
        }
        parse(item, join_path(path, index++));
    }
}

TextPattern parse_text_pattern(const Value& form, const std::string& path, Problems& problems) {
    if (!form.is_string()) {
        report(problems, path, fmt::format("found {}, expected a text", describe(form)));
        return {};
    }
    if (form.size() > pattern_bytes_max) {
        report(problems, path,
               fmt::format("found a text of {} bytes, expected at most {}", form.size(),
                           pattern_bytes_max));
        return {};
    }
    auto parsed = TextPattern::parse(form.as_string());
    if (!parsed) {
        report(problems, path, parsed.error().message);
        return {};
    }
    return *std::move(parsed);
}

TextPattern parse_type(const Value& form, const std::string& path, Problems& problems) {
    if (form.is_string() && form.size() == 0) {
        report(problems, path, "found an empty text, expected an event type or \"*\"");
    }
    return parse_text_pattern(form, path, problems);
}

Pattern parse_pattern(const Value& form, const std::string& path, Problems& problems) {
    if (form.is_string()) {
        return {.type = parse_type(form, path, problems), .subject = {}};
    }
    if (!form.is_map()) {
        report(problems, path,
               fmt::format("found {}, expected an event type or a map of type and subject",
                           describe(form)));
        return {};
    }
    auto reader = FormReader{form, path, problems, {"type", "subject"}};
    auto pattern = Pattern{};
    const auto* type = reader.find("type");
    const auto* subject = reader.find("subject");
    if (type == nullptr && subject == nullptr) {
        report(problems, path, "found neither type nor subject, expected at least one");
    }
    if (type != nullptr) {
        pattern.type = parse_type(*type, reader.path_of("type"), problems);
    }
    if (subject != nullptr) {
        pattern.subject = parse_text_pattern(*subject, reader.path_of("subject"), problems);
    }
    return pattern;
}

std::vector<Pattern> parse_on(const FormReader& reader, Problems& problems) {
    auto patterns = std::vector<Pattern>{};
    const auto* form = reader.find("on");
    if (form == nullptr || (form->is_list() && form->size() == 0)) {
        if (reader.find("intercept") == nullptr) {
            reader.expect("on", "an event type, or a list of them");
        }
        return patterns;
    }
    for_each_item(*form, reader.path_of("on"), problems,
                  [&](const Value& item, const std::string& path) {
                      patterns.push_back(parse_pattern(item, path, problems));
                  });
    return patterns;
}

Term parse_term(const Value& form, const std::string& path, Problems& problems) {
    auto is_text = form.is_string();
    if (!is_text && !(form.is_map() && form.size() == 1)) {
        auto found = form.is_map() && form.size() > 1
                         ? fmt::format("a map of {} members", form.size())
                         : describe(form);
        report(
            problems, path,
            fmt::format("found {}, expected a name or a map of one name to its parameters", found));
        return {};
    }
    auto name = is_text ? form.as_string() : std::string_view{form.as_map().front().key};
    if (!is_name(name)) {
        report(problems, path,
               fmt::format("found the name {}, expected 1 to {} bytes without control characters",
                           in_quotes(name), name_bytes_max));
        return {};
    }
    return {.name = std::string{name}, .params = is_text ? Value{} : form.as_map().front().value};
}

std::vector<Term> parse_actions(const FormReader& reader, Problems& problems) {
    auto actions = std::vector<Term>{};
    if (const auto* form = reader.find("action")) {
        for_each_item(*form, reader.path_of("action"), problems,
                      [&](const Value& item, const std::string& path) {
                          actions.push_back(parse_term(item, path, problems));
                      });
    }
    return actions;
}

std::string parse_id(const FormReader& reader, std::string_view member) {
    auto id = reader.text(member);
    if (id && !is_id(*id)) {
        reader.expect(member,
                      fmt::format("an id of 1 to {} bytes without '/' or control characters",
                                  name_bytes_max));
    }
    return std::move(id).value_or("");
}

std::optional<Intercept> parse_intercept(const FormReader& outer, Problems& problems) {
    const auto* form = outer.find("intercept");
    if (form == nullptr) {
        return std::nullopt;
    }
    auto reader =
        FormReader{*form, outer.path_of("intercept"), problems, {"trigger", "condition", "when"}};
    auto intercept = Intercept{.trigger = parse_id(reader, "trigger"),
                               .condition = reader.text("condition").value_or("")};
    auto has_trigger = reader.find("trigger") != nullptr;
    auto has_condition = reader.find("condition") != nullptr;
    if (form->is_map() && has_trigger == has_condition) {
        outer.report("intercept",
                     fmt::format("found {} trigger {} condition, expected one of them",
                                 has_trigger ? "both" : "neither", has_trigger ? "and" : "nor"));
    }
    if (has_condition && !is_name(intercept.condition)) {
        reader.expect("condition", "the name of a condition");
    }
    intercept.when = reader.choice("when", internal::intercept_when_names, intercept.when);
    return intercept;
}

void parse_dedupe(const FormReader& outer, SetSpec& spec, Problems& problems) {
    const auto* form = outer.find("dedupe");
    if (form == nullptr || !form->is_map()) {
        spec.dedupe = outer.choice("dedupe", internal::dedupe_names, spec.dedupe);
        return;
    }
    auto reader = FormReader{*form, outer.path_of("dedupe"), problems, {"window"}};
    spec.dedupe = DedupeMode::Window;
    spec.dedupe_window = reader.duration("window").value_or(Nanos{0});
    if (spec.dedupe_window == Nanos{0}) {
        reader.expect("window", "a duration above zero, such as \"10m\"");
    }
}

void parse_kept(const FormReader& outer, SetSpec& spec, Problems& problems) {
    const auto* form = outer.find("kept");
    if (form == nullptr) {
        return;
    }
    auto reader =
        FormReader{*form, outer.path_of("kept"), problems, {"max", "bytes", "full", "ttl"}};
    spec.kept_max =
        static_cast<std::uint32_t>(reader.count("max", 0, UINT32_MAX).value_or(spec.kept_max));
    spec.kept_bytes_max = reader.count("bytes", 0, UINT64_MAX).value_or(spec.kept_bytes_max);
    spec.kept_full = reader.choice("full", internal::kept_full_names, spec.kept_full);
    spec.kept_ttl = reader.duration("ttl").value_or(spec.kept_ttl);
}

std::string parse_set_name(const FormReader& reader) {
    auto name = reader.text("name");
    if (reader.find("name") == nullptr || (name && !is_set_name(*name))) {
        reader.expect("name", fmt::format("a name of 1 to {} letters, digits, '.', '_' or '-'",
                                          set_name_bytes_max));
    }
    return std::move(name).value_or("");
}

std::vector<TriggerSpec> parse_triggers(const FormReader& reader, Problems& problems) {
    auto triggers = std::vector<TriggerSpec>{};
    const auto* form = reader.find("triggers");
    if (form == nullptr || !form->is_list() || form->size() == 0) {
        reader.expect("triggers", "a list of at least one trigger");
        return triggers;
    }
    if (form->size() > triggers_max) {
        reader.report("triggers", fmt::format("found {} triggers, expected at most {}",
                                              form->size(), triggers_max));
        return triggers;
    }
    auto patterns = std::size_t{0};
    for_each_item(*form, reader.path_of("triggers"), problems,
                  [&](const Value& item, const std::string& path) {
                      if (patterns <= patterns_max) {
                          triggers.push_back(parse_trigger(item, path, problems));
                          patterns += triggers.back().on.size();
                      }
                  });
    if (patterns > patterns_max) {
        reader.report("triggers",
                      fmt::format("found more than {} patterns in all `on`", patterns_max));
    }
    return triggers;
}

} // namespace

TriggerSpec parse_trigger(const Value& form, const std::string& path, Problems& problems) {
    auto spec = TriggerSpec{};
    auto reader = FormReader{form,
                             path,
                             problems,
                             {"id", "on", "filter", "condition", "action", "context", "lifetime",
                              "enabled", "while_disabled", "on_error", "intercept"}};
    if (!form.is_map()) {
        return spec;
    }
    spec.id = parse_id(reader, "id");
    if (reader.find("id") == nullptr) {
        reader.expect("id", "the trigger's id");
    }
    spec.on = parse_on(reader, problems);
    spec.filter = reader.expression("filter").value_or("");
    if (const auto* condition = reader.find("condition")) {
        spec.condition = parse_term(*condition, reader.path_of("condition"), problems);
    }
    spec.actions = parse_actions(reader, problems);
    spec.context = reader.map("context");
    spec.lifetime = reader.choice("lifetime", internal::lifetime_names, spec.lifetime);
    spec.is_enabled = reader.boolean("enabled").value_or(spec.is_enabled);
    spec.while_disabled =
        reader.choice("while_disabled", internal::while_disabled_names, spec.while_disabled);
    spec.on_error = reader.choice("on_error", internal::on_error_names, spec.on_error);
    spec.intercept = parse_intercept(reader, problems);
    return spec;
}

Strategy parse_strategy(const Value& form, const std::string& path, Problems& problems) {
    for (const auto& [name, kind] : internal::strategy_names) {
        if (form.is_string() && form.as_string() == name) {
            return {.kind = kind};
        }
    }
    const auto* limit = form.find("parallel");
    auto count = limit == nullptr ? std::nullopt : as_count(*limit);
    if (!count || *count == 0 || *count > strategy_limit_max || form.size() != 1) {
        report(problems, path,
               fmt::format("found {}, expected sequential, first_only, last_only, latest_only, "
                           "parallel or {{parallel: 5}} with a limit of 1 to {}",
                           describe(form), strategy_limit_max));
        return {};
    }
    return {.limit = static_cast<std::uint32_t>(*count)};
}

SetSpec parse_set(const Value& form, const std::vector<std::string>& extra, Problems& problems) {
    auto spec = SetSpec{};
    auto reader = FormReader{form,
                             "",
                             problems,
                             {"name", "triggers", "unmatched", "dedupe", "timeout", "cancel_grace",
                              "retention", "kept", "context", "input", "strategy"},
                             extra};
    if (!form.is_map()) {
        return spec;
    }
    spec.name = parse_set_name(reader);
    spec.triggers = parse_triggers(reader, problems);
    spec.keeps_unmatched =
        reader.choice("unmatched", internal::unmatched_names, spec.keeps_unmatched);
    parse_dedupe(reader, spec, problems);
    spec.timeout = reader.duration("timeout").value_or(spec.timeout);
    spec.cancel_grace = reader.duration("cancel_grace").value_or(spec.cancel_grace);
    spec.retention = reader.duration("retention").value_or(spec.retention);
    parse_kept(reader, spec, problems);
    spec.context = reader.map("context");
    if (const auto* input = reader.find("input")) {
        spec.input = *input;
    }
    if (const auto* strategy = reader.find("strategy")) {
        spec.strategy = parse_strategy(*strategy, reader.path_of("strategy"), problems);
    }
    internal::check_ids(spec.triggers, problems);
    return spec;
}

Error to_error(const Problems& problems) {
    auto message = std::string{};
    auto shown = std::min(problems.size(), error_problems_max);
    for (const auto& problem : std::span{problems}.first(shown)) {
        message += message.empty() ? "" : "; ";
        message += problem.path.empty() ? problem.message
                                        : fmt::format("{}: {}", problem.path, problem.message);
    }
    if (shown < problems.size()) {
        message += fmt::format("; and {} more", problems.size() - shown);
    }
    return {.code = Errc::InvalidInput, .message = std::move(message)};
}

} // namespace sluice::trigger

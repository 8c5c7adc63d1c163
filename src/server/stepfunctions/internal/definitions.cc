#include "server/stepfunctions/internal/definitions.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <fmt/ranges.h>

#include "workflow/asl/compile.h"
#include "workflow/asl/parse.h"

namespace sluice::server::stepfunctions {

namespace {

using workflow::asl::Diagnostic;

constexpr auto results_max = std::size_t{100};

/// A trigger set's name has fewer letters to choose from than a machine's.
std::string set_name(std::string name) {
    std::ranges::replace_if(
        name,
        [](unsigned char each) {
            return std::isalnum(each) == 0 && each != '.' && each != '_' && each != '-';
        },
        '_');
    return name;
}

Value to_value(const Diagnostic& diagnostic) {
    auto is_error = diagnostic.severity == Diagnostic::Severity::Error;
    return Value::object({{"severity", is_error ? "ERROR" : "WARNING"},
                          {"code", diagnostic.code},
                          {"message", diagnostic.message},
                          {"location", diagnostic.location}});
}

Answer validate_definition(World&, const Call& call) {
    auto checked =
        check_definition(text_in(call.body, "definition"), text_in(call.body, "type") == "EXPRESS");
    auto listed = std::vector<Value>{};
    for (const auto& error : checked.errors) {
        listed.push_back(to_value(error));
    }
    if (text_in(call.body, "severity") == "WARNING") {
        for (const auto& warning : checked.warnings) {
            listed.push_back(to_value(warning));
        }
    }
    auto most = number_in(call.body, "maxResults").value_or(0);
    auto room = most <= 0 ? results_max : static_cast<std::size_t>(most);
    auto is_truncated = listed.size() > room;
    listed.resize(std::min(listed.size(), room));
    return Value::object({{"result", checked.errors.empty() ? "OK" : "FAIL"},
                          {"diagnostics", Value::list(std::move(listed))},
                          {"truncated", is_truncated}});
}

} // namespace

Checked check_definition(std::string_view text, bool is_express) {
    auto form = workflow::asl::parse(text);
    if (!form) {
        return {.form = {}, .errors = {form.error()}, .warnings = {}};
    }
    auto options =
        workflow::asl::ReadOptions{.is_express = is_express, .refuses_unsupported = true};
    auto machine = workflow::asl::read(*form, options);
    auto errors = machine ? std::vector<Diagnostic>{} : std::move(machine.error());
    auto warnings = workflow::asl::warnings(*form, options);
    return {.form = *std::move(form), .errors = std::move(errors), .warnings = std::move(warnings)};
}

Fault invalid_definition(const std::vector<Diagnostic>& errors) {
    auto said = std::vector<std::string>{};
    for (const auto& error : errors) {
        // Where a text is no JSON, the message tells the place.
        auto place = error.location.starts_with('/') ? " at " + error.location : std::string{};
        said.push_back(fmt::format("{}: {}{}", error.code, error.message, place));
    }
    return {
        .type = "InvalidDefinition",
        .message = fmt::format("Invalid State Machine Definition: '{}'", fmt::join(said, ", "))};
}

std::expected<std::string, Fault> definition_text(const World& world, const std::string& hash) {
    auto definition = TRY(or_fault(world.services.engine.catalog().definition(hash)));
    return definition.source;
}

std::expected<std::string, Fault> keep_definition(World& world, const std::string& space,
                                                  const std::string& name, const std::string& text,
                                                  bool is_express) {
    auto checked = check_definition(text, is_express);
    if (!checked.errors.empty()) {
        return std::unexpected(invalid_definition(checked.errors));
    }
    auto* quotas = world.services.quotas;
    if (auto refused = quotas == nullptr ? std::nullopt : quotas->refuse_definition(space, name)) {
        return refuse("StateMachineLimitExceeded", "{}", refused->detail);
    }
    auto compiled =
        workflow::asl::compile(checked.form, {.name = set_name(name), .is_express = is_express});
    auto definition = engine::Definition{.name = name,
                                         .language = std::move(compiled.language),
                                         .form = std::move(compiled.form),
                                         .source = text};
    return or_fault(world.services.engine.catalog().add(space, definition));
}

std::vector<Operation> definition_operations() {
    auto text = Parameter{
        .name = "definition", .need = required, .least = 1, .most = definition_characters_max};
    return {
        {"ValidateStateMachineDefinition",
         reads,
         {text, choice_parameter("type", {"STANDARD", "EXPRESS"}),
          choice_parameter("severity", {"ERROR", "WARNING"}),
          Parameter{.name = "maxResults", .kind = Parameter::Kind::Number, .most = results_max}},
         validate_definition}};
}

} // namespace sluice::server::stepfunctions

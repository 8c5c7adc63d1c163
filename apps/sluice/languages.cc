#include "sluice/languages.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "workflow/asl/check.h"
#include "workflow/asl/compile.h"
#include "workflow/asl/vocabulary.h"
#include "workflow/dag/check.h"
#include "workflow/dag/compile.h"
#include "workflow/dag/operator.h"
#include "workflow/dag/parse.h"
#include "workflow/dag/vocabulary.h"
#include "workflow/raw/check.h"
#include "workflow/recorded/compile.h"

namespace sluice::app {

namespace {

namespace raw = workflow::raw;
namespace dag = workflow::dag;
namespace recorded = workflow::recorded;
namespace asl = workflow::asl;

using ReadDefinition = std::expected<raw::Definition, Findings>;

raw::CheckOptions options_of(const KnownFunctions& known) {
    return {.known_functions = known.names,
            .are_all_known = known.are_all,
            .known_pools = known.pools,
            .refused_tasks = known.refused_tasks};
}

ReadDefinition read_tasks(const raw::Document& document, const trigger::Vocabulary& vocabulary,
                          const KnownFunctions& known) {
    auto operators = dag::built_in_operators();
    auto flow = std::unique_ptr<dag::Flow>{};
    auto findings = dag::check(document, operators, vocabulary, options_of(known), &flow);
    if (!findings.empty()) {
        return std::unexpected(std::move(findings));
    }
    return dag::compile(document.form, operators, flow.get());
}

/// The name that a file gives to what it holds: that of `orders/ship.asl.json` is `ship`.
std::string name_of(const std::string& file) {
    auto name = std::filesystem::path{file}.filename().string();
    return name.substr(0, name.find('.'));
}

bool is_machine(const raw::Document& document) {
    return asl::is_machine_file(document.file) || asl::resembles_machine(document.form);
}

ReadDefinition read_machine(const raw::Document& document, const KnownFunctions& known) {
    auto findings = asl::check(
        document, {.is_express = known.is_express, .refuses_unsupported = !known.are_all});
    std::erase_if(findings, &raw::Finding::is_warning);
    if (!findings.empty()) {
        return std::unexpected(std::move(findings));
    }
    return asl::compile(document.form, {.name = name_of(document.file),
                                        .is_express = known.is_express,
                                        .is_tried = known.are_all});
}

ReadDefinition read_triggers(const raw::Document& document, const trigger::Vocabulary& vocabulary,
                             const KnownFunctions& known) {
    auto findings = raw::check(document, vocabulary, options_of(known));
    if (!findings.empty()) {
        return std::unexpected(std::move(findings));
    }
    return raw::compile(document);
}

} // namespace

trigger::Vocabulary make_vocabulary() {
    return make_vocabulary(engine::Secret{});
}

trigger::Vocabulary make_vocabulary(const engine::Secret& secret) {
    auto vocabulary = trigger::Vocabulary{};
    dag::add_vocabulary(vocabulary, dag::built_in_operators());
    workflow::asl::add_vocabulary(vocabulary, {secret.begin(), secret.end()});
    return vocabulary;
}

std::expected<raw::Document, Findings> parse_document(std::string_view text,
                                                      const std::string& file) {
    if (asl::may_be_machine(text, file)) {
        auto document = raw::parse(text, file, {.depth_max = asl::depth_max});
        if (!document || is_machine(*document)) {
            return document;
        }
    }
    return raw::parse(text, file);
}

Findings check_definition(const std::string& text, const std::string& file,
                          const trigger::Vocabulary& vocabulary, bool is_express) {
    auto document = parse_document(text, file);
    if (!document) {
        auto findings = std::move(document.error());
        for (auto& finding : findings) {
            finding.code = asl::is_machine_file(file) ? "INVALID_JSON_DESCRIPTION" : "";
        }
        return findings;
    }
    if (is_machine(*document)) {
        return asl::check(*document, {.is_express = is_express});
    }
    auto definition = read_definition(*document, vocabulary, {.may_come_later = true});
    return definition ? Findings{} : std::move(definition.error());
}

ReadDefinition read_definition(const raw::Document& document, const trigger::Vocabulary& vocabulary,
                               const KnownFunctions& known) {
    if (is_machine(document)) {
        return read_machine(document, known);
    }
    if (dag::is_dag(document.form)) {
        return read_tasks(document, vocabulary, known);
    }
    if (recorded::is_recorded(document.form)) {
        auto is_checked = !known.are_all && !known.may_come_later;
        return recorded::compile(document, dag::built_in_operators(),
                                 is_checked ? &known.names : nullptr);
    }
    return read_triggers(document, vocabulary, known);
}

std::vector<raw::FunctionForm> functions_of(const raw::Document& document) {
    if (recorded::is_recorded(document.form) || is_machine(document)) {
        return {};
    }
    return dag::is_dag(document.form)
               ? dag::compile(document.form, dag::built_in_operators()).functions
               : raw::compile(document).functions;
}

std::vector<raw::FunctionForm> task_functions_of(const raw::Document& document,
                                                 std::string_view definition) {
    auto form = document.form;
    const auto* nested = form.find("definitions");
    const auto* inner = nested == nullptr ? nullptr : nested->find(definition);
    if (inner != nullptr && form.find("name") != nullptr &&
        *form.find("name") != Value{definition}) {
        form = inner->with("name", definition);
    }
    if (!dag::is_dag(form)) {
        return {};
    }
    auto functions = dag::compile(form, dag::built_in_operators()).functions;
    std::erase_if(functions, [](const raw::FunctionForm& each) { return !each.is_of_task; });
    return functions;
}

} // namespace sluice::app

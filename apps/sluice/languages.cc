#include "sluice/languages.h"

#include <memory>
#include <utility>

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

using ReadDefinition = std::expected<raw::Definition, Findings>;

raw::CheckOptions options_of(const KnownFunctions& known) {
    return {
        .known_functions = known.names, .are_all_known = known.are_all, .known_pools = known.pools};
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
    auto vocabulary = trigger::Vocabulary{};
    dag::add_vocabulary(vocabulary, dag::built_in_operators());
    workflow::asl::add_vocabulary(vocabulary);
    return vocabulary;
}

ReadDefinition read_definition(const raw::Document& document, const trigger::Vocabulary& vocabulary,
                               const KnownFunctions& known) {
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
    if (recorded::is_recorded(document.form)) {
        return {};
    }
    return dag::is_dag(document.form)
               ? dag::compile(document.form, dag::built_in_operators()).functions
               : raw::compile(document).functions;
}

} // namespace sluice::app

#include <cstddef>
#include <cstdint>

#include "base/invariant.h"
#include "workflow/dag/check.h"
#include "workflow/dag/compile.h"
#include "workflow/dag/parse.h"
#include "workflow/dag/vocabulary.h"

// Whatever comes in, a definition of tasks is refused with findings, or what it compiles to are
// triggers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    namespace dag = workflow::dag;
    static const auto operators = dag::built_in_operators();
    static const auto vocabulary = [] {
        auto made = trigger::Vocabulary{};
        dag::add_vocabulary(made, operators);
        return made;
    }();
    auto text = std::string_view{reinterpret_cast<const char*>(data), size};
    auto document = workflow::raw::parse(text, "fuzz.yaml");
    if (!document || !dag::is_dag(document->form) ||
        !dag::check(*document, operators, vocabulary).empty()) {
        return 0;
    }
    auto definition = dag::compile(document->form, operators);
    auto problems = std::vector<trigger::Problem>{};
    auto spec = trigger::parse_set(definition.form, {}, problems);
    auto set = trigger::TriggerSet::compile(std::move(spec), vocabulary, problems);
    INVARIANT(set != nullptr && problems.empty(), "what passed the check compiles");
    return 0;
}

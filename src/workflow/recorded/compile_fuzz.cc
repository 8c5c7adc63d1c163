#include <cstddef>
#include <cstdint>

#include "base/invariant.h"
#include "trigger/trigger_set.h"
#include "workflow/dag/vocabulary.h"
#include "workflow/recorded/compile.h"

// Whatever comes in, a recorded workflow is refused with findings, or what it compiles to are
// triggers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    namespace recorded = workflow::recorded;
    static const auto operators = workflow::dag::built_in_operators();
    static const auto vocabulary = [] {
        auto made = trigger::Vocabulary{};
        workflow::dag::add_vocabulary(made, operators);
        return made;
    }();
    auto text = std::string_view{reinterpret_cast<const char*>(data), size};
    auto document = workflow::raw::parse(text, "fuzz.json");
    if (!document || !recorded::is_recorded(document->form)) {
        return 0;
    }
    auto definition = recorded::compile(*document, operators, nullptr);
    if (!definition) {
        INVARIANT(!definition.error().empty(), "what is refused is told why");
        return 0;
    }
    auto problems = std::vector<trigger::Problem>{};
    auto spec = trigger::parse_set(definition->form, {}, problems);
    auto set = trigger::TriggerSet::compile(std::move(spec), vocabulary, problems);
    INVARIANT(set != nullptr && problems.empty(), "what passed the check compiles");
    return 0;
}

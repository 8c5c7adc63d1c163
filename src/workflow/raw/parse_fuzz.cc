#include <cstddef>
#include <cstdint>

#include "base/invariant.h"
#include "value/json.h"
#include "workflow/raw/check.h"
#include "workflow/raw/compile.h"

// Whatever comes in, the answer is a document or findings within the text; what passes the check
// compiles.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    namespace raw = workflow::raw;
    static const auto vocabulary = trigger::Vocabulary{};
    auto text = std::string_view{reinterpret_cast<const char*>(data), size};
    auto document = raw::parse(text, "fuzz.yaml");
    if (!document) {
        INVARIANT(!document.error().empty(), "a refusal says why");
        for (const auto& finding : document.error()) {
            INVARIANT(finding.line >= 1 && finding.column >= 1, "a finding has a place");
        }
        return 0;
    }
    INVARIANT(value::parse_json(value::to_json(document->form)), "a form is a JSON value");
    if (!raw::check(*document, vocabulary).empty()) {
        return 0;
    }
    auto definition = raw::compile(*document);
    auto problems = std::vector<trigger::Problem>{};
    auto spec = trigger::parse_set(definition.form, {}, problems);
    auto set = trigger::TriggerSet::compile(spec, vocabulary, problems);
    INVARIANT(set != nullptr && problems.empty(), "what passed the check compiles");
    return 0;
}

#include "sluice/serve/sent_definition.h"

#include <utility>
#include <vector>

#include "sluice/definition_file.h"

namespace sluice::app {

namespace {

Findings undefined_functions(const LoadedDefinition& loaded, std::string_view file,
                             const KnownFunctions& known) {
    auto findings = Findings{};
    for (const auto& form : loaded.definition.functions) {
        if (!form.is_of_task && !known.names.contains(form.name) &&
            !known.pools.contains(form.name)) {
            findings.push_back({.file = std::string{file},
                                .path = "functions/" + form.name,
                                .message = "a server takes no functions from definitions: set it "
                                           "up with PUT /v1/functions, or serve --functions"});
        }
    }
    return findings;
}

} // namespace

server::Compiled compile(const trigger::Vocabulary& vocabulary, const KnownFunctions& known,
                         std::string_view source, std::string_view file) {
    auto loaded = load_definition(std::string{source}, std::string{file}, vocabulary, known);
    auto wrong = loaded ? undefined_functions(*loaded, file, known) : std::move(loaded.error());
    if (wrong.empty()) {
        return loaded->for_catalog();
    }
    auto findings = std::vector<Value>{};
    for (const auto& finding : wrong) {
        findings.push_back(to_value(finding));
    }
    return std::unexpected(std::move(findings));
}

} // namespace sluice::app

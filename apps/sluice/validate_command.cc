#include "sluice/validate_command.h"

#include <algorithm>
#include <utility>

#include "sluice/definition_file.h"
#include "sluice/languages.h"
#include "sluice/output.h"

namespace sluice::app {

ExitCode validate(const ValidateOptions& options) {
    auto vocabulary = make_vocabulary();
    auto items = std::vector<Value>{};
    auto code = ExitCode::Ok;
    for (const auto& file : options.files) {
        auto text = read_text(file);
        if (!text) {
            code = report(text.error());
            continue;
        }
        auto findings = check_definition(*text, file, vocabulary, options.is_express);
        auto errors = std::ranges::count(findings, false, &workflow::raw::Finding::is_warning);
        if (errors > 0) {
            code = code == ExitCode::Ok ? ExitCode::Invalid : code;
        }
        for (const auto& finding : findings) {
            items.push_back(to_value(finding));
        }
        if (!options.is_json) {
            say_findings(findings);
            say("{}: {}", file, errors == 0 ? "valid" : fmt::format("{} found", errors));
        }
    }
    if (options.is_json) {
        print_json(Value::object(
            {{"valid", code == ExitCode::Ok}, {"findings", Value::list(std::move(items))}}));
    }
    return code;
}

} // namespace sluice::app

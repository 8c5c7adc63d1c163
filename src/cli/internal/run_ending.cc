#include "cli/internal/run_ending.h"

#include "cli/output.h"

namespace sluice::cli {

ExitCode tell_ending(const std::string& run, const Value& ending, bool is_json) {
    auto status = text_at(ending, "status");
    auto code = status == "succeeded"                       ? ExitCode::Ok
                : status == "running" || status == "queued" ? ExitCode::Waiting
                                                            : ExitCode::Failed;
    if (is_json) {
        print_json(ending);
        return code;
    }
    const auto* result = ending.find("result");
    const auto* error = ending.find("error");
    if (code == ExitCode::Ok) {
        print_json(result == nullptr ? Value{} : *result);
    } else if (code == ExitCode::Waiting) {
        say("run {} goes on: `sluice watch {}` follows it", run, run);
    } else {
        say("run {} {}{}", run, status,
            error == nullptr || error->is_null() ? "" : ": " + describe_error(*error));
    }
    return code;
}

} // namespace sluice::cli

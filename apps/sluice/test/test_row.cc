#include "sluice/test/test_row.h"

#include <memory>

#include "sluice/test/test_command.h"

namespace sluice::app {

cli::Command test_row() {
    auto options = std::make_shared<TestOptions>();
    return {.name = "test",
            .help = "Try definitions on virtual time, as cases say",
            .words = {{.name = "FILE",
                       .target = &options->files,
                       .help = "Files with cases, YAML or JSON",
                       .is_required = true,
                       .completes = cli::Completes::File},
                      {.name = "--filter",
                       .target = &options->filter,
                       .help = "Only cases whose names contain this",
                       .value = "NAME"},
                      {.name = "--fail-fast",
                       .target = &options->stops_at_failure,
                       .help = "Stop at the first case that fails"},
                      cli::json_word(options->is_json, "As JSON lines")},
            .run = [options] { return test(*options); }};
}

} // namespace sluice::app

#include "sluice/graph/graph_row.h"

#include <memory>

#include "sluice/graph/graph_command.h"

namespace sluice::app {

cli::Command graph_row(const cli::Host& host) {
    auto options = std::make_shared<GraphOptions>();
    auto command =
        cli::Command{.name = "graph",
                     .help = "Draw a definition, or a run with how far it is",
                     .words = {{.name = "SUBJECT",
                                .target = &options->subject,
                                .help = "A definition's file, or a run",
                                .is_required = true,
                                .completes = cli::Completes::File},
                               {.name = "--format",
                                .target = &options->format,
                                .help = "How",
                                .choices = {"text", "svg", "dot", "mermaid"}},
                               {.name = "-o,--output",
                                .target = &options->output,
                                .help = "Where to; otherwise standard output",
                                .value = "FILE",
                                .completes = cli::Completes::File},
                               {.name = "--ascii",
                                .target = &options->is_ascii,
                                .help = "Text without box drawing characters"},
                               {.name = "--width",
                                .target = &options->width,
                                .help = "Columns of text; otherwise those of the terminal",
                                .value = "N",
                                .least = 20,
                                .most = 10'000}},
                     .run = [&host, options] { return graph(host, *options); }};
    options->connection.add_with_data_to(command);
    return command;
}

} // namespace sluice::app

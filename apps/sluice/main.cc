#include <algorithm>
#include <csignal>
#include <span>
#include <string>
#include <thread>

#include <malloc.h>

#include "cli/command_line.h"
#include "cli/host.h"
#include "sluice/command_table.h"
#include "sluice/inspect/data_server.h"
#include "sluice/serve/token_command.h"
#include "workflow/raw/parse.h"

namespace {

using namespace sluice; // NOLINT(google-build-using-namespace): all of it is wired here.

/// The reader of definitions reads any YAML or JSON.
Result<Value> read_document(const std::string& text, const std::string& file) {
    auto document = workflow::raw::parse(text, file);
    if (!document) {
        return fail(Errc::InvalidInput, "{}", workflow::raw::to_text(document.error().front()));
    }
    return document->form;
}

} // namespace

int main(int argc, char** argv) {
    // As many heaps as threads can run at once: by default there are eight times as many, and each
    // keeps what its threads freed.
    ::mallopt(M_ARENA_MAX, static_cast<int>(std::max(2U, std::thread::hardware_concurrency())));
    // Both are told as errors of the write: nobody reads any more, or the file may not grow.
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    auto host = cli::Host{.read_document = read_document,
                          .open_data = app::open_data,
                          .make_token = app::create_token};
    auto program = cli::Program{
        .name = "sluice",
        .help = "Sluice runs workflows made of events and triggers.",
        .version = SLUICE_VERSION,
        .footer =
            "Exit codes: 0 ok, 1 failed, 2 invalid, 3 not found, 4 server or data directory "
            "not to be had, 5 the run goes on, 6 refused, 130 interrupted.",
        .commands = app::command_table(host)};
    return static_cast<int>(cli::run(program, std::span{argv, static_cast<std::size_t>(argc)}));
}

#include <memory>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/internal/files.h"
#include "cli/output.h"
#include "value/json.h"

namespace sluice::cli {

namespace {

struct DeployOptions {
    Connection connection;
    std::vector<std::string> files;
    bool is_json = false;
};

/// What the server found wrong, with the name that the file has here.
void say_findings(const std::string& file, const Value& findings) {
    for (const auto& each : findings.as_list()) {
        auto path = text_at(each, "path");
        say("{}:{}:{}: {}{}", file, text_at(each, "line"), text_at(each, "column"),
            path.empty() ? "" : path + ": ", text_at(each, "message"));
    }
}

ExitCode deploy_file(client::Client& client, const std::string& file,
                     const DeployOptions& options) {
    auto text = read_text(file);
    if (!text) {
        return report(text.error());
    }
    auto deployed = client.deploy(*text);
    if (!deployed) {
        const auto* findings = deployed.error().document.find("findings");
        if (findings == nullptr || !findings->is_list()) {
            return report(deployed.error());
        }
        say_findings(file, *findings);
        return ExitCode::Invalid;
    }
    if (options.is_json) {
        print_line(value::to_json(*deployed));
    } else {
        print("{}  {}", text_at(*deployed, "definition"), text_at(*deployed, "version"));
    }
    return ExitCode::Ok;
}

ExitCode deploy(const Host& host, const DeployOptions& options) {
    auto client = options.connection.open(host);
    if (!client) {
        return report(client.error());
    }
    auto worst = ExitCode::Ok;
    for (const auto& file : options.files) {
        worst = std::max(worst, deploy_file(*client, file, options));
    }
    return worst;
}

} // namespace

Command deploy_command(const Host& host) {
    auto options = std::make_shared<DeployOptions>();
    auto command = Command{.name = "deploy",
                           .help = "Give a server definitions, to start runs of",
                           .words = {{.name = "FILE",
                                      .target = &options->files,
                                      .help = "Definitions, YAML or JSON; - is standard input",
                                      .is_required = true,
                                      .completes = Completes::File},
                                     json_word(options->is_json, "As JSON, one line each")},
                           .run = [&host, options] { return deploy(host, *options); }};
    options->connection.add_to(command);
    return command;
}

} // namespace sluice::cli

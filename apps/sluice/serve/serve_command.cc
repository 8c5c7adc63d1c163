#include "sluice/serve/serve_command.h"

#include <utility>

#include <CLI/CLI.hpp>

#include "sluice/serve/serving.h"

namespace sluice::app {

void add_serve_options(CLI::App& command, ServeOptions& options) {
    command.add_option("--config", options.config, "A YAML file with settings")->type_name("FILE");
    for (const auto& setting : server::settings()) {
        if (setting.flag().empty()) {
            continue;
        }
        auto is_truth = std::holds_alternative<bool server::Configuration::*>(setting.field);
        auto take = [&options, &setting](const std::string& text) {
            options.flags.insert_or_assign(std::string{setting.name}, text.empty() ? "true" : text);
        };
        auto* option = command.add_option_function<std::string>(setting.flag(), take,
                                                                std::string{setting.description});
        option->type_name(std::string{setting.form});
        if (is_truth) {
            option->expected(0, 1); // A default would stand for the flag without a value.
        } else {
            option->default_str(server::Configured{}.text(setting));
        }
    }
    command.add_flag("--show-config", options.shows_config,
                     "Print every setting and where it came from, and do nothing else");
    command.add_flag("--json", options.is_json, "What it tells or shows, as JSON");
}

ExitCode serve(ServeOptions options) {
    if (options.is_json && !options.shows_config) {
        options.flags.try_emplace("log.format", "json");
    }
    auto secrets = secret::take_from_environment();
    auto source = ConfigurationSource{options.config, take_environment(), std::move(options.flags)};
    auto configured = source.load();
    if (!configured) {
        return report(configured.error());
    }
    if (options.shows_config) {
        show_configuration(*configured, options.is_json);
        return ExitCode::Ok;
    }
    auto serving = Serving{source, *std::move(configured), std::move(secrets)};
    if (auto opened = serving.open(); !opened) {
        return report(opened.error());
    }
    auto served = serving.run();
    return served ? ExitCode::Ok : report(served.error());
}

} // namespace sluice::app

#include "sluice/serve/serve_command.h"

#include <utility>

#include <fmt/format.h>

#include "sluice/serve/serving.h"

namespace sluice::app {

std::vector<cli::Word> serve_words(ServeOptions& options) {
    auto words = std::vector<cli::Word>{{.name = "--config",
                                         .target = &options.config,
                                         .help = "A YAML file with settings",
                                         .value = "FILE",
                                         .completes = cli::Completes::File}};
    for (const auto& setting : server::settings()) {
        if (setting.flag().empty()) {
            continue;
        }
        auto take = [&options, &setting](const std::string& text) {
            options.flags.insert_or_assign(std::string{setting.name}, text);
        };
        auto value = server::Configured{}.text(setting);
        words.push_back({.name = setting.flag(),
                         .target = take,
                         .help = value.empty() ? std::string{setting.description}
                                               : fmt::format("{} [{}]", setting.description, value),
                         .value = std::string{setting.form}});
    }
    words.push_back({.name = "--show-config",
                     .target = &options.shows_config,
                     .help = "Print every setting and where it came from, and do nothing else"});
    words.push_back(
        {.name = "--json", .target = &options.is_json, .help = "What it tells or shows, as JSON"});
    return words;
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

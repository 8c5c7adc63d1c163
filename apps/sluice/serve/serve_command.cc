#include "sluice/serve/serve_command.h"

#include <utility>

namespace sluice::app {

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
    auto serving = Serving{source, *std::move(configured), std::move(secrets), options.part};
    if (auto opened = serving.open(); !opened) {
        return report(opened.error());
    }
    auto served = serving.run();
    return served ? ExitCode::Ok : report(served.error());
}

} // namespace sluice::app

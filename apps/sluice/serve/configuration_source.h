#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "secret/secrets.h"
#include "server/configuration.h"

namespace sluice::app {

/// Where a server's configuration is read from, as often as it is asked for: a file that may change
/// meanwhile, and the environment and flags that it was started with.
class ConfigurationSource {
public:
    using Texts = server::Configured::Texts;

    /// Without a file, the path is empty. Flags go by the names of settings.
    ConfigurationSource(std::string file, Texts environment, Texts flags)
        : file_(std::move(file)), environment_(std::move(environment)), flags_(std::move(flags)) {}

    /// Fails with everything that is wrong with the file, a line each with its place in it.
    Result<server::Configured> load() const;

private:
    std::string file_;
    Texts environment_;
    Texts flags_;
};

/// What our variables of the environment say. Those that are secrets are inherited by no process
/// that is started from now on. Call it before there are threads.
ConfigurationSource::Texts take_environment();

/// Every setting, its value and where that came from.
void show_configuration(const server::Configured& configured, bool is_json);

} // namespace sluice::app

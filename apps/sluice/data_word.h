#pragma once

#include <string>
#include <utility>

#include "cli/command.h"

namespace sluice::app {

/// The option `--data`, which all commands on data directories have.
inline cli::Word data_word(std::string& data, std::string help = "The data directory") {
    return {.name = "--data",
            .target = &data,
            .help = std::move(help),
            .value = "DIR",
            .completes = cli::Completes::Folder};
}

} // namespace sluice::app

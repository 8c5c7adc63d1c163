#include "observe/diagnostics.h"

namespace sluice::observe {

std::string_view to_string(Level level) {
    switch (level) {
        case Level::Error: return "error";
        case Level::Warn: return "warn";
        case Level::Info: return "info";
        case Level::Debug: return "debug";
    }
    return "unknown";
}

std::optional<Level> level_named(std::string_view name) {
    for (auto level : {Level::Error, Level::Warn, Level::Info, Level::Debug}) {
        if (to_string(level) == name) {
            return level;
        }
    }
    return std::nullopt;
}

void Diagnostics::tell(Level level, std::string_view message, Fields fields) {
    if (is_heard(level)) {
        write(level, message, std::span{fields.begin(), fields.size()});
    }
}

} // namespace sluice::observe

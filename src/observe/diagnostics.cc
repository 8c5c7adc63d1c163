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

void Diagnostics::tell(Level level, std::string_view message, Fields fields) {
    if (is_heard(level)) {
        write(level, message, std::span{fields.begin(), fields.size()});
    }
}

} // namespace sluice::observe

#include "cli/exit_code.h"

#include "cli/output.h"

namespace sluice::cli {

ExitCode report(const Error& error) {
    say("sluice: {}", error.message);
    return exit_code_of(error);
}

ExitCode exit_code_of(const Error& error) {
    switch (error.code) {
        case Errc::InvalidInput:
        case Errc::LimitExceeded: return ExitCode::Invalid;
        case Errc::NotFound: return ExitCode::NotFound;
        case Errc::Conflict:
        case Errc::Corrupt:
        case Errc::Io:
        case Errc::NoSpace:
        case Errc::Unavailable:
        case Errc::Stale:
        case Errc::Unsupported: return ExitCode::Unavailable;
        case Errc::AlreadyExists:
        case Errc::Internal: break;
    }
    return ExitCode::Failed;
}

} // namespace sluice::cli

#include "base/result.h"

namespace sluice {

std::string_view to_string(Errc code) {
    switch (code) {
        case Errc::InvalidInput: return "invalid input";
        case Errc::NotFound: return "not found";
        case Errc::AlreadyExists: return "already exists";
        case Errc::Conflict: return "conflict";
        case Errc::Stale: return "stale";
        case Errc::LimitExceeded: return "limit exceeded";
        case Errc::Corrupt: return "corrupt";
        case Errc::Io: return "i/o";
        case Errc::NoSpace: return "no space";
        case Errc::Unavailable: return "unavailable";
        case Errc::Unsupported: return "unsupported";
        case Errc::Internal: return "internal";
    }
    return "unknown";
}

} // namespace sluice

#include "server/stepfunctions/fault.h"

namespace sluice::server::stepfunctions {

Fault fault_of(const Error& error) {
    switch (error.code) {
        case Errc::InvalidInput:
        case Errc::LimitExceeded:
        case Errc::Unsupported: return {.type = "ValidationException", .message = error.message};
        case Errc::NotFound: return {.type = "ResourceNotFound", .message = error.message};
        case Errc::AlreadyExists:
        case Errc::Conflict:
        case Errc::Stale: return {.type = "ConflictException", .message = error.message};
        case Errc::Unavailable:
        case Errc::NoSpace:
            return {.type = "ServiceUnavailableException", .message = error.message, .status = 503};
        case Errc::Corrupt:
        case Errc::Io:
        case Errc::Internal: break;
    }
    return {.type = "InternalServerException", .message = error.message, .status = 500};
}

} // namespace sluice::server::stepfunctions

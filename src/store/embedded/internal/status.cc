#include "store/embedded/internal/status.h"

namespace sluice::store::embedded {
namespace {

Errc code_of(const rocksdb::Status& status) {
    if (status.IsCorruption()) {
        return Errc::Corrupt;
    }
    if (status.IsNotSupported()) {
        return Errc::Unsupported;
    }
    return status.IsInvalidArgument() ? Errc::InvalidInput : Errc::Io;
}

} // namespace

std::unexpected<Error> fail_with(const rocksdb::Status& status, std::string_view doing) {
    return fail(code_of(status), "{}: {}", doing, status.ToString());
}

} // namespace sluice::store::embedded

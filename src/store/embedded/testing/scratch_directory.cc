#include "store/embedded/testing/scratch_directory.h"

#include <cstdlib>
#include <string>

#include "base/invariant.h"

namespace sluice::store::embedded::testing {

ScratchDirectory::ScratchDirectory() {
    auto parent = std::filesystem::path{"/dev/shm"};
    if (!std::filesystem::is_directory(parent)) {
        parent = std::filesystem::temp_directory_path();
    }
    auto pattern = (parent / "sluice-store-XXXXXX").string();
    INVARIANT(::mkdtemp(pattern.data()) != nullptr, "tests need a place for their files");
    path_ = pattern;
}

ScratchDirectory::~ScratchDirectory() {
    auto ignored = std::error_code{};
    std::filesystem::remove_all(path_, ignored);
}

} // namespace sluice::store::embedded::testing

#include "store/embedded/internal/direct_writes.h"

#include <array>

#include <fcntl.h>
#include <unistd.h>

namespace sluice::store::embedded {
namespace {

constexpr auto page_bytes = std::size_t{4096};

} // namespace

bool takes_direct_writes(const std::filesystem::path& folder) {
    alignas(page_bytes) static const auto page = std::array<char, page_bytes>{};
    auto file = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_DIRECT | O_CLOEXEC, 0600);
    if (file < 0) {
        return false;
    }
    // Some open such a file and refuse its first write.
    auto written = ::write(file, page.data(), page.size());
    ::close(file);
    return written == static_cast<ssize_t>(page.size());
}

} // namespace sluice::store::embedded

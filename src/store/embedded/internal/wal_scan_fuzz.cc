#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "store/embedded/internal/log_reader.h"
#include "store/embedded/internal/wal_scan.h"

// Whatever the files hold: the scan ends, cuts lie inside the files, and what is left after the cut
// is clean.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice::store::embedded;
    auto bytes = std::string_view{reinterpret_cast<const char*>(data), size};
    auto half = bytes.substr(0, bytes.size() / 2);
    auto rest = bytes.substr(half.size());
    auto manifest = scan_manifest("3", bytes);
    auto scan = WalScan{manifest.last_sequence};
    scan.add("1", half);
    scan.add("2", rest);
    if (!scan.fault() && !scan.cuts().empty() && scan.cuts().front().file == "1") {
        auto again = WalScan{manifest.last_sequence};
        again.add("1", half.substr(0, scan.cuts().front().offset));
        INVARIANT(again.cuts().empty() && !again.fault(), "what stands before a cut is whole");
    }
    return 0;
}

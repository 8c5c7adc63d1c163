#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::store::embedded {

/// A torn end that was cut: a commit nobody was told of.
struct Cut {
    std::string file;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::string reason;

    bool operator==(const Cut&) const = default;
};

struct RecoveryReport {
    std::vector<Cut> cuts;
};

struct DamagedFile {
    std::string file;
    std::string reason;
};

struct CheckReport {
    std::vector<DamagedFile> damaged;
    std::vector<Cut> torn; ///< What opening will cut.
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;

    bool is_clean() const { return damaged.empty() && torn.empty(); }
};

} // namespace sluice::store::embedded

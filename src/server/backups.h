#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "store/objects/objects.h"
#include "store/store.h"
#include "value/value.h"

namespace sluice::server {

/// Copies of the store, made while it is in use and held until whoever fetches them is done.
///
/// A copy shares its files with the store as far as it can. May be used from any thread; everything
/// here blocks.
class Backups {
public:
    static constexpr auto copies_max = std::size_t{4};
    static constexpr auto piece_bytes_max = std::size_t{4} << 20U;

    /// Removes what an earlier process left in the folder, which must be on the store's file system
    /// to be quick. Store and objects outlive it; without objects (null) there are none to copy.
    Backups(store::Store& store, store::Objects* objects, const Clock& clock,
            std::filesystem::path folder);

    /// {backup, files: [{name, size}]}. LimitExceeded when too many are held already.
    Result<Value> make();
    Result<Value> list() const;
    /// A part of a file; empty at its end.
    Result<std::string> read(std::string_view backup, std::string_view file, std::uint64_t from,
                             std::size_t most) const;
    Result<void> remove(std::string_view backup);

private:
    Result<std::filesystem::path> find(std::string_view backup) const;

    store::Store& store_;
    store::Objects* objects_;
    const Clock& clock_;
    std::filesystem::path folder_;
    std::mutex mutex_; ///< One is made at a time.
};

} // namespace sluice::server

#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "store/objects/objects.h"

namespace sluice::store {

enum class ObjectAccess : std::uint8_t { ReadWrite, ReadOnly };

/// Objects as files: docs/formats/objects.md.
class ObjectDirectory final : public Objects {
public:
    /// Makes the directory when there is none and removes what a crash left unfinished; to read
    /// only, does neither.
    static Result<std::unique_ptr<ObjectDirectory>> open(std::filesystem::path path,
                                                         ObjectAccess access);

    Result<std::string> put(const ObjectOwner& owner, std::string_view bytes) override;
    Result<std::string> get(const ObjectOwner& owner, std::string_view name) const override;
    Result<void> share(const ObjectOwner& from, const ObjectOwner& with) override;
    Result<std::vector<ObjectOwner>> owners() const override;
    Result<bool> remove_all(const ObjectOwner& owner) override;
    void reclaim() override;
    /// As the directory `objects` in it.
    Result<void> copy_to(const std::filesystem::path& path,
                         const std::function<Result<void>()>& copy_first) override;

    struct Damage {
        std::string file;
        std::string reason;
    };
    struct CheckReport {
        std::uint64_t files = 0;
        std::uint64_t bytes = 0;
        std::vector<Damage> damaged;
    };
    /// Reads every object there is.
    Result<CheckReport> check() const;
    struct Stored {
        ObjectOwner owner;
        std::string name;
    };
    Result<std::vector<Stored>> list() const;

private:
    explicit ObjectDirectory(std::filesystem::path path) : path_(std::move(path)) {}

    std::filesystem::path folder_of(const ObjectOwner& owner) const;
    std::filesystem::path next_new() { return path_ / "new" / std::to_string(++made_); }
    Result<void> ensure_folder(const ObjectOwner& owner);
    Result<void> sync_folder(const std::filesystem::path& folder) const;

    std::filesystem::path path_;
    std::atomic<std::uint64_t> made_ = 0;
    std::mutex mutex_;      ///< Folders of owners come and go under it.
    std::mutex reclaiming_; ///< Held while a copy is made: it may need what was removed meanwhile.
};

} // namespace sluice::store

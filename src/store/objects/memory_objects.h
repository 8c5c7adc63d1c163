#pragma once

#include <map>
#include <mutex>

#include "store/objects/objects.h"

namespace sluice::store {

/// Objects that are forgotten with the process.
class MemoryObjects final : public Objects {
public:
    Result<std::string> put(const ObjectOwner& owner, std::string_view bytes) override;
    Result<std::string> get(const ObjectOwner& owner, std::string_view name) const override;
    Result<void> share(const ObjectOwner& from, const ObjectOwner& with) override;
    Result<std::vector<ObjectOwner>> owners() const override;
    Result<bool> remove_all(const ObjectOwner& owner) override;

private:
    mutable std::mutex mutex_;
    std::map<ObjectOwner, std::map<std::string, std::string, std::less<>>> objects_;
};

} // namespace sluice::store

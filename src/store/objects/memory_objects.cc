#include "store/objects/memory_objects.h"

namespace sluice::store {

Result<std::string> MemoryObjects::put(const ObjectOwner& owner, std::string_view bytes) {
    auto name = object_name_of(bytes);
    auto lock = std::lock_guard{mutex_};
    objects_[owner].emplace(name, bytes);
    return name;
}

Result<std::string> MemoryObjects::get(const ObjectOwner& owner, std::string_view name) const {
    auto lock = std::lock_guard{mutex_};
    if (auto owned = objects_.find(owner); owned != objects_.end()) {
        if (auto found = owned->second.find(name); found != owned->second.end()) {
            return found->second;
        }
    }
    return fail(Errc::NotFound, "run \"{}\" has no object {}", owner.run, name);
}

Result<void> MemoryObjects::share(const ObjectOwner& from, const ObjectOwner& with) {
    auto lock = std::lock_guard{mutex_};
    if (auto owned = objects_.find(from); owned != objects_.end()) {
        auto shared = owned->second;
        objects_[with].merge(shared);
    }
    return {};
}

Result<std::vector<ObjectOwner>> MemoryObjects::owners() const {
    auto lock = std::lock_guard{mutex_};
    auto owners = std::vector<ObjectOwner>{};
    for (const auto& [owner, objects] : objects_) {
        owners.push_back(owner);
    }
    return owners;
}

Result<bool> MemoryObjects::remove_all(const ObjectOwner& owner) {
    auto lock = std::lock_guard{mutex_};
    return objects_.erase(owner) > 0;
}

} // namespace sluice::store

#pragma once

#include <compare>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace sluice::store {

/// Whose objects go together: a run that no other has started.
struct ObjectOwner {
    std::string space;
    std::string run;

    auto operator<=>(const ObjectOwner&) const = default;
};

/// Bytes by their content's name. May be used from any thread; all but `remove_all` block.
class Objects {
public:
    virtual ~Objects() = default;

    /// Durable when it returns: its name. The same bytes twice are one object.
    virtual Result<std::string> put(const ObjectOwner& owner, std::string_view bytes) = 0;
    /// NotFound when the owner has none of this name, Corrupt when it is not as it was put.
    virtual Result<std::string> get(const ObjectOwner& owner, std::string_view name) const = 0;
    /// All that one owner has belongs to the other too.
    virtual Result<void> share(const ObjectOwner& from, const ObjectOwner& with) = 0;
    virtual Result<std::vector<ObjectOwner>> owners() const = 0;
    /// The owner has none from here on; their room is free after `reclaim`. Quick.
    /// False when it had none.
    virtual Result<bool> remove_all(const ObjectOwner& owner) = 0;
    virtual void reclaim() {}
    /// Adds them to a copy that `copy_first` makes of what names them: all that was there when it
    /// began.
    virtual Result<void> copy_to(const std::filesystem::path& /*path*/,
                                 const std::function<Result<void>()>& copy_first) {
        return copy_first();
    }
};

/// The BLAKE2b hash of the bytes, in 64 hexadecimal digits.
std::string object_name_of(std::string_view bytes);
bool is_object_name(std::string_view text);

} // namespace sluice::store

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/keys.h"
#include "engine/token.h"
#include "store/objects/objects.h"
#include "value/value.h"

namespace sluice::engine {

/// The member of a call's policy that says whether its result may be kept by reference.
inline constexpr std::string_view large_member = "large";
/// Its values: in any run, or only where no other run gets it as a part of this one's result.
inline constexpr std::string_view large_kept = "kept";
inline constexpr std::string_view large_kept_in_root = "root";

/// Whose objects a run uses: its own when nobody started it, or those of the run that all began
/// with. One that was spread over the shards has its own again.
store::ObjectOwner owner_of(const RunName& run);

/// Values that lie beside the store as objects, and the references that stand for them:
/// docs/formats/objects.md.
///
/// A reference is sealed with the store's secret, so that nothing an author writes is taken for
/// one; and it is looked up among the objects of its own run only. May be used from any thread.
class References {
public:
    /// What one call, or one look, may bring back at most.
    static constexpr auto call_bytes_max = std::uint64_t{1} << 30U;
    static constexpr auto shown_bytes_max = std::uint64_t{64} << 20U;

    References(store::Objects& objects, const Secret& secret)
        : objects_(objects), secret_(secret) {}

    store::Objects& objects() const { return objects_; }

    /// Durable when it returns: what stands for the value. Blocks.
    Result<Value> put(const RunName& run, const Value& value) const;
    /// The value with what its references stand for in their places. Blocks. NotFound, Corrupt or
    /// LimitExceeded when one cannot be had.
    Result<Value> fill(const RunName& run, const Value& value, std::uint64_t bytes_max) const;
    /// The same for who only looks: with the references where they cannot be filled.
    Value fill_or_leave(const RunName& run, const Value& value) const;
    /// Whether there is one in it.
    bool has_any(const Value& value) const;

private:
    struct Target {
        std::string_view name;
        std::uint64_t bytes = 0;
    };
    std::optional<Target> read(const Value& value) const;
    std::string seal_of(std::string_view name, std::uint64_t bytes) const;
    Result<Value> load(const RunName& run, const Target& target, std::uint64_t& room) const;
    Result<std::optional<Value>> filled(const RunName& run, const Value& value,
                                        std::uint64_t& room) const;

    store::Objects& objects_;
    Secret secret_;
};

/// Whether a value takes more than so many bytes, about. Looks at no more of it than it must.
bool is_larger_than(const Value& value, std::size_t bytes);
/// Whether the policy of a call of this run lets its result be kept by reference.
bool may_be_kept(const Value& policy, const RunName& run);

} // namespace sluice::engine

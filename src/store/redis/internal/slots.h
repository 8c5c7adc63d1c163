#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "resp/reply.h"
#include "store/redis/options.h"

namespace sluice::store::redis::internal {

inline constexpr auto slot_count = std::uint16_t{16384};

/// Where a cluster keeps a key: by what stands between its first braces, or by all of it where
/// nothing does.
std::uint16_t slot_of(std::string_view key);

/// What a node says of a slot that it does not have.
struct Redirect {
    enum class Kind : std::uint8_t {
        Moved, ///< For good.
        Ask,   ///< This once: the slot is on its way.
    };
    Kind kind = Kind::Moved;
    std::uint16_t slot = 0;
    Address to; ///< No host: that of whoever said so.
};

/// `MOVED 3999 127.0.0.1:6381`, `ASK 3999 127.0.0.1:6381`; nothing for other errors.
std::optional<Redirect> redirect_in(std::string_view error);

/// Which node has which slots.
class SlotMap {
public:
    /// Of what CLUSTER SLOTS gives; `asked` is the host of who gave it, for nodes without a name.
    static Result<SlotMap> parse(const resp::Reply& reply, std::string_view asked);

    /// Null: nobody has it.
    const Address* owner_of(std::uint16_t slot) const;
    const std::vector<Address>& nodes() const { return nodes_; }
    void move(std::uint16_t slot, const Address& to);

private:
    std::uint16_t number_of(const Address& node);

    std::vector<Address> nodes_;
    std::vector<std::uint16_t> owners_; ///< By slot, one more than the place in `nodes_`; 0: none.
};

} // namespace sluice::store::redis::internal

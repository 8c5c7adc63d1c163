#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "event/internal/attribute.h"

namespace sluice::event::internal {

/// How the members of an event stood in its text: events of one source mostly look the same.
class Shape {
public:
    struct Member {
        std::string lead; ///< What stands before its value, from the value before: `,"source":`.
        std::size_t name_begin; ///< In the lead.
        std::size_t name_size;
        Attribute attribute;
        /// A text that has been the same each time, with its quotes; empty: it changes.
        std::string value;
    };

    std::vector<Member>& members() { return members_; }
    /// From an event that is valid, as far as it has nothing unusual: names with escapes, lines.
    void learn(std::string_view json);

private:
    std::vector<Member> members_;
};

} // namespace sluice::event::internal

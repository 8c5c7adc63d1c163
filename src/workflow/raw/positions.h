#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "value/value.h"

namespace sluice::workflow::raw {

/// A place in a file; both begin at 1, columns count bytes.
struct Place {
    int line = 1;
    int column = 1;

    bool operator==(const Place&) const = default;
};

/// Where each part of a form stands in its file: a tree beside the form, with the same items and
/// members in the same order. A member's place is its key.
class Positions {
public:
    using Node = std::uint32_t;
    static constexpr Node leaf = UINT32_MAX;

    struct Part {
        Place place;
        Node node = leaf; ///< A list or map; the same one may be part of several.
    };
    struct Located {
        Place place;
        std::string path;
    };

    /// A list or map of these parts.
    Node add(std::span<const Part> parts);
    void set_root(Part root) { root_ = root; }

    /// The place of a path, or of the nearest part of it that exists. Authors may write one item
    /// where a list is meant: its index then leaves the path.
    Located locate(const Value& form, std::string_view path) const;

private:
    struct Range {
        std::uint32_t first = 0;
        std::uint32_t count = 0;
    };

    std::vector<Range> nodes_;
    std::vector<Part> parts_;
    Part root_;
};

} // namespace sluice::workflow::raw

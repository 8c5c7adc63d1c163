#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "base/fingerprint.h"
#include "trigger/ids.h"
#include "trigger/pattern.h"

namespace sluice::trigger {

/// A trigger whose pattern an event matched, and which of its patterns.
struct Match {
    TriggerNumber trigger;
    std::uint32_t pattern = 0;

    auto operator<=>(const Match&) const = default;
};

/// Few, for nearly every event: in place then.
using Matches = boost::container::small_vector<Match, 8>;

/// Finds the triggers an event may activate, at a cost that does not grow with those that it does
/// not.
///
/// Patterns of the same shape (exact, or a prefix of one length, for type and for subject) share a
/// kind of key, so a look-up is one probe for each shape that occurs.
class PatternIndex {
public:
    /// Adding the same again changes nothing.
    void add(const Pattern& pattern, Match match);
    /// Takes back what was added with these very arguments; what was not is ignored.
    void remove(const Pattern& pattern, Match match);

    /// Replaces `out` by all that match, in order of creation and each once.
    void find(std::string_view type, std::string_view subject, Matches& out) const;

    std::size_t size() const { return size_; }

private:
    static constexpr auto whole = UINT32_MAX;

    /// How many bytes of the type and of the subject make the key: `whole`, or a prefix, or none
    /// for any.
    struct Shape {
        std::uint32_t type_bytes = 0;
        std::uint32_t subject_bytes = 0;
        std::size_t patterns = 0; ///< How many have this shape; none: the shape is dropped.

        bool fits(std::string_view type, std::string_view subject) const;
        Fingerprint key_of(std::string_view type, std::string_view subject) const;
        std::uint64_t order() const;
    };

    /// Most keys have one match, which is in place; those of a shared key are in `lists_`, in
    /// order.
    struct Bucket {
        static constexpr auto shared = UINT32_MAX;

        Match match; ///< When its pattern is `shared`, its trigger is a place in `lists_`.

        bool is_shared() const { return match.pattern == shared; }
        std::uint32_t list() const { return match.trigger.raw(); }
    };

    static Shape shape_of(const Pattern& pattern);
    std::vector<Shape>::iterator place_of(const Shape& shape);
    bool insert(Bucket& bucket, Match match);
    bool erase(Fingerprint key, Match match);
    std::uint32_t take_list();
    void append(const Bucket& bucket, Matches& out) const;

    std::vector<Shape> shapes_; ///< Sorted by order().
    boost::unordered_flat_map<Fingerprint, Bucket, FingerprintHash> buckets_;
    std::vector<std::vector<Match>> lists_;
    std::vector<std::uint32_t> lists_free_;
    std::size_t size_ = 0;
};

} // namespace sluice::trigger

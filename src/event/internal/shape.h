#pragma once

#include <cstddef>
#include <cstdint>
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

        std::string_view name() const {
            return std::string_view{lead}.substr(name_begin, name_size);
        }
    };
    /// Members whose values do not change, and the lead of the next one that does: one text.
    struct Stretch {
        struct Part {
            std::string_view Envelope::* place;
            std::size_t begin; ///< In the text, without quotes.
            std::size_t size;
        };

        std::string text;
        std::size_t first = 0;  ///< Of the members in it.
        std::size_t behind = 0; ///< The first that is not.
        std::vector<Part> parts;
        std::uint32_t seen = 0;    ///< Attributes that are named in it.
        std::uint32_t present = 0; ///< Those of them that it has the values of.
        std::size_t attributes = 0;
        std::size_t name_begin = 0; ///< Of the member that changes.
        bool has_open_end = false;  ///< A value follows; false: it is the last stretch.
    };

    const std::vector<Member>& members() const { return members_; }
    const std::vector<Stretch>& stretches() const { return stretches_; }
    /// The value of a member is another one now; `join` has to be called behind such changes.
    void forget_value(std::size_t member) { members_[member].value.clear(); }
    void join();
    /// From an event that is valid, as far as it has nothing unusual: names with escapes, lines.
    void learn(std::string_view json);

private:
    void learn_members(std::string_view json);

    std::vector<Member> members_;
    std::vector<Stretch> stretches_;
};

} // namespace sluice::event::internal

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/fingerprint.h"
#include "event/event_view.h"
#include "expr/cel/constraints.h"
#include "trigger/pattern_index.h"

namespace sluice::trigger {

/// Finds triggers by what their filters demand of an event: `data.kind == "order"`, `in`,
/// `startsWith`. Its cost grows with the paths that filters look at, not with the constants they
/// compare them with.
///
/// What it leaves out has a filter that is false for the event. A filter that would fault is not
/// left out: where a path is missing, all that look at it are found.
class FilterIndex {
public:
    /// False when no demand can be looked up; the match is not in here then.
    bool add(const Pattern& pattern, const std::vector<expr::cel::Constraint>& demands,
             Match match);
    /// Appends, in no order, each once.
    void append(event::EventView& event, Matches& out) const;

    bool is_empty() const { return groups_.empty(); }

private:
    using Form = expr::cel::Constraint::Form;

    /// What looks at one path of events of one pattern.
    struct Group {
        std::vector<std::string> path;
        Form form = Form::Equals;
        boost::unordered_flat_map<Fingerprint, std::vector<Match>, FingerprintHash> by_constant;
        std::map<std::size_t, std::size_t> prefix_sizes; ///< And how many have such a prefix.
        std::vector<Match> all;
    };
    using GroupKey = std::tuple<std::string, std::string, std::vector<std::string>, Form>;

    std::uint32_t group_of(const Pattern& pattern, const expr::cel::Constraint& demand);
    static void append(const Group& group, event::EventView& event, Matches& out);

    std::vector<Group> groups_;
    std::map<GroupKey, std::uint32_t> numbers_;
    PatternIndex patterns_; ///< Finds groups: a match's trigger is a group.
};

} // namespace sluice::trigger

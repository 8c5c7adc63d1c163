#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "trigger/spec.h"
#include "value/value.h"

namespace sluice::workflow::raw::internal {

using Problems = std::vector<trigger::Problem>;

/// A map of the section `functions`, read member by member; what is wrong becomes a problem.
class MemberReader {
public:
    MemberReader(const Value& form, std::string path, std::initializer_list<std::string_view> known,
                 Problems& problems);

    /// Null when it is not there, or says null.
    const Value* find(std::string_view name) const;
    std::string path_of(std::string_view name) const;
    void report(std::string_view name, std::string message) const;
    void expect(std::string_view name, std::string_view expected) const;

    /// Empty, or zero, when there is none or it is wrong.
    std::string text(std::string_view name) const;
    std::uint32_t count(std::string_view name) const;
    Nanos duration(std::string_view name) const;
    void check_number(std::string_view name, double min, double max) const;

private:
    const Value& form_;
    std::string path_;
    Problems& problems_;
};

/// `the text "abc"`, `the number 3`, `a list`: what was found, short enough for a message.
std::string describe(const Value& found);

} // namespace sluice::workflow::raw::internal

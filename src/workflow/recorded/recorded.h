#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trigger/spec.h"
#include "value/value.h"

namespace sluice::workflow::recorded {

using Problems = std::vector<trigger::Problem>;

/// A task that another system ran, or planned to run.
struct Task {
    std::string name{};          ///< As tasks of ours may be named.
    std::string path{};          ///< Of its form in the file.
    std::string function{};      ///< Who does its work.
    std::string function_path{}; ///< Where that is written; empty: nowhere.
    Value input{};               ///< For the function; its texts hold no expressions.
    double seconds = 0;          ///< Its run time.
    std::vector<std::uint32_t> after{};
};

/// A workflow in the form of another system, read. Tasks are named by their places.
struct Workflow {
    std::string name;
    std::string_view language;
    std::string tasks_path;        ///< Of their list in the file.
    std::string_view after_member; ///< Where a task's form names those before it.
    std::vector<Task> tasks{};
};

/// WfFormat of WfCommons, versions 1.0 to 1.6. What is wrong is appended; the result is usable only
/// where nothing was.
Workflow read_wfformat(const Value& form, Problems& problems);
/// An abstract workflow of Pegasus 5, the same.
Workflow read_pegasus(const Value& form, Problems& problems);

} // namespace sluice::workflow::recorded

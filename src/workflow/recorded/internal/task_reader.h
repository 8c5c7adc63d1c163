#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "workflow/recorded/recorded.h"

namespace sluice::workflow::recorded::internal {

/// The tasks of a workflow while they are read: the names they go by, and who comes after whom.
class TaskReader {
public:
    TaskReader(Workflow& workflow, Problems& problems) : workflow_(workflow), problems_(problems) {}

    /// The list of tasks at this member; null and a problem where there is none.
    const Value* list_of_tasks(const Value& form, std::string path, std::string_view member);
    /// A task that goes by the text at one of these members, the first that is there.
    std::uint32_t add(const Value& form, std::initializer_list<std::string_view> names);
    /// Another name that the file may use for it, unless a task has it already.
    void add_alias(std::string_view name, std::uint32_t task) { by_name_.try_emplace(name, task); }
    std::optional<std::uint32_t> find(std::string_view name) const;
    /// Those that a list names.
    std::vector<std::uint32_t> find_all(const Value& form, const std::string& path,
                                        std::string_view member);
    void put_after(std::uint32_t task, std::uint32_t before) {
        workflow_.tasks[task].after.push_back(before);
    }

    Task& task(std::uint32_t at) { return workflow_.tasks[at]; }
    void report(std::string path, std::string message);

private:
    void check_name(const Value& name, const std::string& path, std::uint32_t at);
    std::string suggestion(std::string_view name) const;

    Workflow& workflow_;
    Problems& problems_;
    std::unordered_map<std::string_view, std::uint32_t> by_name_; ///< As the file names them.
    std::unordered_map<std::string, std::uint32_t> by_own_name_;
};

/// The member, or null where there is none or the form is no map.
const Value* member_of(const Value& form, std::string_view name);
/// Empty where it is no text.
std::string_view text_of(const Value& form, std::string_view name);
/// What a definition may be named, made of the name in the file; a problem where there is none.
std::string definition_name(const Value& form, Problems& problems);
/// A list of texts, in which `${` begins no expression; empty where it is no list.
Value texts_of(const Value* list);
Value literal(std::string_view text);
/// The first of these names that a function can go by. Those of built-in functions are not meant.
std::string function_name(std::initializer_list<std::string_view> names);

/// A number of seconds that a call may take, also if it is written as a text.
std::optional<double> seconds_of(const Value& value);
inline constexpr std::string_view seconds_expected = "seconds, from 0 to 1000000000";

/// What the function of every task is given.
Value input_of(std::string_view task, double seconds);

} // namespace sluice::workflow::recorded::internal

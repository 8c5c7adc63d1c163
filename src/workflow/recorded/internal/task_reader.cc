#include "workflow/recorded/internal/task_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/nearest.h"
#include "trigger/form_reader.h"
#include "value/json.h"
#include "workflow/raw/function_form.h"

namespace sluice::workflow::recorded::internal {

namespace {

using trigger::describe;
using trigger::in_quotes;
using trigger::join_path;

constexpr auto seconds_max = 1e9;
constexpr auto task_name_bytes_max = std::size_t{150};
constexpr auto function_name_bytes_max = std::size_t{200};
constexpr auto definition_name_bytes_max = std::size_t{100};

bool is_control(char letter) {
    return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F;
}

bool is_letter_of_name(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '.' || letter == '_' || letter == '-';
}

/// Places of tasks are divided by slashes, and `(end)` is ours.
std::string own_name(std::string_view name) {
    auto made = std::string{name};
    std::ranges::replace_if(
        made, [](char letter) { return is_control(letter) || letter == '/'; }, '_');
    if (made.starts_with('(')) {
        made.front() = '_';
    }
    return made;
}

bool is_function_name(std::string_view name) {
    return !name.empty() && name.size() <= function_name_bytes_max && !raw::is_builtin(name) &&
           !name.contains("${") && std::ranges::none_of(name, [](char letter) {
               return is_control(letter) || letter == ' ';
           });
}

} // namespace

void TaskReader::report(std::string path, std::string message) {
    trigger::report(problems_, std::move(path), std::move(message));
}

const Value* TaskReader::list_of_tasks(const Value& form, std::string path,
                                       std::string_view member) {
    const auto* list = member_of(form, member);
    if (list != nullptr && list->is_list() && list->size() > 0) {
        workflow_.tasks_path = path.empty() ? std::string{member} : join_path(path, member);
        return list;
    }
    if (list != nullptr) {
        path = path.empty() ? std::string{member} : join_path(path, member);
    }
    report(std::move(path), list == nullptr
                                ? fmt::format("found no {}, expected a list of them", member)
                                : fmt::format("found {}, expected a list of at least one task",
                                              list->is_list() ? "none" : describe(*list)));
    return nullptr;
}

std::uint32_t TaskReader::add(const Value& form, std::initializer_list<std::string_view> names) {
    auto at = static_cast<std::uint32_t>(workflow_.tasks.size());
    workflow_.tasks.push_back({.path = join_path(workflow_.tasks_path, at)});
    for (auto name : names) {
        if (const auto* given = member_of(form, name)) {
            check_name(*given, join_path(workflow_.tasks[at].path, name), at);
            return at;
        }
    }
    report(workflow_.tasks[at].path, form.is_map()
                                         ? fmt::format("found no {}, expected a text that no "
                                                       "other task has",
                                                       *names.begin())
                                         : fmt::format("found {}, expected a task: a map with {}",
                                                       describe(form), *names.begin()));
    return at;
}

void TaskReader::check_name(const Value& name, const std::string& path, std::uint32_t at) {
    auto& task = workflow_.tasks[at];
    auto is_fit = name.is_string() && name.size() > 0 && name.size() <= task_name_bytes_max;
    if (!is_fit) {
        report(path, fmt::format("found {}, expected a text of 1 to {} bytes", describe(name),
                                 task_name_bytes_max));
        return;
    }
    auto own = own_name(name.as_string());
    auto [first, is_new] = by_own_name_.try_emplace(own, at);
    if (!is_new) {
        report(path, fmt::format("found {} again, expected each task to have one of its own: the "
                                 "first is {}",
                                 in_quotes(name.as_string()), workflow_.tasks[first->second].path));
        return;
    }
    task.name = std::move(own);
    by_name_.insert_or_assign(name.as_string(), at);
}

std::optional<std::uint32_t> TaskReader::find(std::string_view name) const {
    auto found = by_name_.find(name);
    return found == by_name_.end() ? std::nullopt : std::optional{found->second};
}

std::string TaskReader::suggestion(std::string_view name) const {
    // Looking for what was meant takes long, and nobody reads more than that.
    if (problems_.size() >= trigger::problems_max) {
        return {};
    }
    auto names = std::vector<std::string_view>{};
    for (const auto& task : workflow_.tasks) {
        if (names.size() < 1'000) {
            names.emplace_back(task.name);
        }
    }
    auto meant = nearest(name, names);
    return meant.empty() ? std::string{": expected one of this workflow"}
                         : fmt::format(": did you mean \"{}\"?", meant);
}

std::vector<std::uint32_t> TaskReader::find_all(const Value& form, const std::string& path,
                                                std::string_view member) {
    auto found = std::vector<std::uint32_t>{};
    const auto* list = member_of(form, member);
    if (list == nullptr) {
        return found;
    }
    auto place = join_path(path, member);
    if (!list->is_list()) {
        report(place, fmt::format("found {}, expected a list of tasks", describe(*list)));
        return found;
    }
    for (auto at = std::size_t{0}; at < list->size(); ++at) {
        const auto& name = list->as_list()[at];
        auto task = name.is_string() ? find(name.as_string()) : std::nullopt;
        if (task) {
            found.push_back(*task);
        } else if (name.is_string()) {
            report(join_path(place, at),
                   fmt::format("there is no task {}{}", in_quotes(name.as_string()),
                               suggestion(name.as_string())));
        } else {
            report(join_path(place, at),
                   fmt::format("found {}, expected the name of a task", describe(name)));
        }
    }
    return found;
}

const Value* member_of(const Value& form, std::string_view name) {
    const auto* member = form.is_map() ? form.find(name) : nullptr;
    return member == nullptr || member->is_null() ? nullptr : member;
}

std::string_view text_of(const Value& form, std::string_view name) {
    const auto* member = member_of(form, name);
    return member != nullptr && member->is_string() ? member->as_string() : std::string_view{};
}

std::string definition_name(const Value& form, Problems& problems) {
    auto name = std::string{text_of(form, "name")};
    if (name.empty()) {
        const auto* found = member_of(form, "name");
        trigger::report(problems, found == nullptr ? "" : "name",
                        fmt::format("found {}, expected a text: the workflow's name",
                                    found == nullptr ? "no name" : describe(*found)));
    }
    std::ranges::replace_if(name, [](char letter) { return !is_letter_of_name(letter); }, '-');
    name.resize(std::min(name.size(), definition_name_bytes_max));
    return name;
}

Value literal(std::string_view text) {
    auto made = std::string{text};
    for (auto at = made.find("${"); at != std::string::npos; at = made.find("${", at + 3)) {
        made.insert(at, "$");
    }
    return Value{made};
}

Value texts_of(const Value* list) {
    auto texts = std::vector<Value>{};
    if (list != nullptr && list->is_list()) {
        for (const auto& item : list->as_list()) {
            texts.push_back(literal(item.is_string() ? item.as_string() : value::to_json(item)));
        }
    }
    return Value::list(std::move(texts));
}

std::string function_name(std::initializer_list<std::string_view> names) {
    for (auto name : names) {
        name.remove_prefix(name.rfind('/') + 1); // npos + 1 is 0: all of it.
        if (is_function_name(name)) {
            return std::string{name};
        }
    }
    return "recorded";
}

std::optional<double> seconds_of(const Value& value) {
    auto seconds = -1.0;
    if (value.is_string()) {
        auto text = value.as_string();
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
        if (error != std::errc{} || end != text.data() + text.size()) {
            return std::nullopt;
        }
    } else if (value.kind() == value::Kind::Double) {
        seconds = value.as_double();
    } else if (auto count = trigger::as_count(value)) {
        seconds = static_cast<double>(*count);
    }
    return seconds >= 0 && seconds <= seconds_max ? std::optional{seconds} : std::nullopt;
}

Value input_of(std::string_view task, double seconds) {
    return Value::object({{"task", literal(task)}, {"seconds", seconds}});
}

} // namespace sluice::workflow::recorded::internal

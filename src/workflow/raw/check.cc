#include "workflow/raw/check.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "workflow/raw/function_form.h"
#include "workflow/raw/internal/member_reader.h"

namespace sluice::workflow::raw {

namespace {

using trigger::Problem;
using Problems = std::vector<Problem>;

std::string join(std::string_view path, std::string_view part) {
    return path.empty() ? std::string{part} : fmt::format("{}/{}", path, part);
}

bool is_within(std::string_view inner, std::string_view outer) {
    return inner.starts_with(outer) && (inner.size() == outer.size() || inner[outer.size()] == '/');
}

/// Collects what is wrong with a definition and those nested in it.
class Checker {
public:
    Checker(const trigger::Vocabulary& vocabulary, const CheckOptions& options)
        : vocabulary_(vocabulary), known_(options) {}

    Problems check(const Value& form) {
        if (const auto* section = form.find("functions")) {
            for (const auto& function : read_functions(*section, problems_)) {
                known_.add(function);
            }
        }
        if (const auto* name = form.find("name"); name != nullptr && name->is_string()) {
            names_.emplace(name->as_string(), "name");
        }
        check_set(form, "", {"functions", "definitions"});
        check_nested(form, "");
        return std::move(problems_);
    }

private:
    /// Triggers as the kernel reads and compiles them.
    void check_set(const Value& form, const std::string& path,
                   const std::vector<std::string>& extra) {
        auto found = Problems{};
        auto spec = trigger::parse_set(form, extra, found);
        auto compiled = Problems{};
        trigger::TriggerSet::compile(std::move(spec), vocabulary_, compiled);
        auto readable = found.size();
        for (auto& problem : compiled) {
            auto follows = [&](const Problem& earlier) {
                return is_within(problem.path, earlier.path) ||
                       is_within(earlier.path, problem.path);
            };
            // What could not be read does not compile either: that is said once.
            if (std::none_of(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(readable),
                             follows)) {
                found.push_back(std::move(problem));
            }
        }
        for (auto& problem : found) {
            problems_.push_back({join(path, problem.path), std::move(problem.message)});
        }
        if (const auto* triggers = form.find("triggers")) {
            check_triggers(*triggers, join(path, "triggers"));
        }
    }

    void check_nested(const Value& form, const std::string& path) {
        const auto* section = form.find("definitions");
        if (section == nullptr || section->is_null()) {
            return;
        }
        auto place = join(path, "definitions");
        if (!section->is_map()) {
            problems_.push_back({place, fmt::format("found {}, expected a map of names to "
                                                    "definitions",
                                                    internal::describe(*section))});
            return;
        }
        for (const auto& [name, nested] : section->as_map()) {
            check_definition(name, nested, join(place, name));
        }
    }

    void check_definition(const std::string& name, const Value& form, const std::string& path) {
        auto [first, is_new] = names_.emplace(name, path);
        if (!is_new) {
            problems_.push_back(
                {path, fmt::format("found the name {} again, expected it once: {} has it",
                                   internal::describe(Value{name}), first->second)});
        }
        if (!form.is_map()) {
            problems_.push_back(
                {path, fmt::format("found {}, expected a map", internal::describe(form))});
            return;
        }
        if (form.find("name") != nullptr) {
            problems_.push_back(
                {join(path, "name"), "a nested definition goes by its key: expected no name"});
        }
        if (form.find("functions") != nullptr) {
            problems_.push_back({join(path, "functions"),
                                 "functions are declared once for the file: expected them beside "
                                 "its name"});
        }
        check_set(form.with("name", name), path, {"definitions", "functions"});
        check_nested(form, path);
    }

    void check_triggers(const Value& triggers, const std::string& path) {
        for_each(triggers, path, [this](const Value& trigger, const std::string& place) {
            check_actions(trigger, place);
        });
    }

    void check_actions(const Value& trigger, const std::string& path) {
        if (const auto* actions = trigger.find("action")) {
            for_each(*actions, join(path, "action"),
                     [this](const Value& action, const std::string& place) {
                         check_action(action, place);
                     });
        }
    }

    /// Looks for calls, also in triggers that are added or changed later.
    void check_action(const Value& action, const std::string& path) {
        if (!action.is_map() || action.size() != 1) {
            return;
        }
        const auto& [name, params] = action.as_map().front();
        auto place = join(path, name);
        if (name == "invoke") {
            check_invoke(params, place);
        } else if (name == "modify" && params.find("set") != nullptr) {
            check_actions(*params.find("set"), join(place, "set"));
        } else if (name == "add") {
            const auto* inner = params.find("trigger");
            check_triggers(inner == nullptr ? params : *inner,
                           inner == nullptr ? place : join(place, "trigger"));
        }
    }

    void check_invoke(const Value& params, const std::string& path) {
        check_pool(params, path, known_, problems_);
        const auto* function = params.is_string() ? &params : params.find("function");
        if (function == nullptr || !function->is_string() || function->size() == 0) {
            return;
        }
        auto name = function->as_string();
        // A name that is computed is known when it is called.
        if (known_.are_all_known || name.contains("${") || is_builtin(name) ||
            known_.known_functions.contains(name)) {
            return;
        }
        problems_.push_back(
            {params.is_string() ? path : join(path, "function"),
             fmt::format("found {}, expected a function declared under functions, or echo, fail, "
                         "flaky, noop or sleep",
                         internal::describe(*function))});
    }

    /// One thing, or a list of them.
    template <typename Visit>
    static void for_each(const Value& one_or_list, const std::string& path, Visit visit) {
        if (!one_or_list.is_list()) {
            visit(one_or_list, path);
            return;
        }
        auto index = std::size_t{0};
        for (const auto& item : one_or_list.as_list()) {
            visit(item, fmt::format("{}/{}", path, index++));
        }
    }

    const trigger::Vocabulary& vocabulary_;
    CheckOptions known_;                                    ///< With what the document declares.
    std::map<std::string, std::string, std::less<>> names_; ///< Of definitions, to their paths.
    Problems problems_;
};

} // namespace

void check_pool(const Value& call, const std::string& path, const CheckOptions& known,
                std::vector<trigger::Problem>& problems) {
    const auto* pool = call.find("pool");
    if (pool == nullptr || !pool->is_string() || known.known_pools.contains(pool->as_string())) {
        return;
    }
    problems.push_back(
        {join(path, "pool"),
         fmt::format(
             "there is no pool \"{0}\": declare it under functions with the number of its slots, "
             "as in {{{0}: {{slots: 4}}}}",
             pool->as_string())});
}

std::vector<Finding> check(const Document& document, const trigger::Vocabulary& vocabulary,
                           const CheckOptions& options) {
    return locate(document, check(document.form, vocabulary, options));
}

std::vector<trigger::Problem> check(const Value& form, const trigger::Vocabulary& vocabulary,
                                    const CheckOptions& options) {
    return Checker{vocabulary, options}.check(form);
}

} // namespace sluice::workflow::raw

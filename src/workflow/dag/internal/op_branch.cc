#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "trigger/form_reader.h"
#include "workflow/dag/internal/operators.h"
#include "workflow/dag/internal/settings.h"
#include "workflow/dag/internal/words.h"
#include "workflow/dag/step.h"

namespace sluice::workflow::dag::internal {

namespace {

using trigger::Attempt;

struct Case {
    std::optional<Template> when; ///< Nothing: otherwise.
    std::vector<std::string> go;
};

/// Chooses which of the tasks behind it begin; the others are skipped.
class BranchOperator final : public Operator {
public:
    std::vector<Case> cases;

    Attempt<void> start(Step& step) const override {
        const auto* chosen = TRY(choose(step));
        const auto& prefixes = step.settings().prefixes;
        auto prefix = prefixes.empty() ? std::string{} : prefixes.back();
        auto is_chosen = [&](const std::string& name) {
            return chosen != nullptr && std::ranges::find(chosen->go, name) != chosen->go.end();
        };
        for (const auto& each : cases) {
            for (const auto& name : each.go) {
                auto other = is_chosen(name)
                                 ? std::nullopt
                                 : Step::find(step.firing(), prefix + name, step.scope());
                if (other && other->status() == words::pending) {
                    other->skip();
                }
            }
        }
        auto names = std::vector<Value>{};
        if (chosen != nullptr) {
            names.assign(chosen->go.begin(), chosen->go.end());
        }
        step.succeed(Value::list(std::move(names)));
        return {};
    }

private:
    /// The first whose `when` is true; null when there is none.
    Attempt<const Case*> choose(const Step& step) const {
        for (const auto& each : cases) {
            if (!each.when) {
                return &each;
            }
            auto verdict = TRY(step.evaluate(*each.when));
            if (!verdict.is_bool()) {
                return std::unexpected(
                    expr::Fault{.code = "not_bool", .message = "`when` is neither true nor false"});
            }
            if (verdict.as_bool()) {
                return &each;
            }
        }
        return nullptr;
    }
};

Case read_case(const Value& form, const std::string& path, const ExpressionSite& site,
               Problems& problems) {
    auto reader = trigger::FormReader{form, path, problems, {"when", "go"}};
    auto made = Case{};
    if (const auto* when = reader.find("when")) {
        auto compiled = when->is_string() ? Template::compile_condition(when->as_string(), site)
                                          : std::unexpected(expr::Fault{});
        if (compiled) {
            made.when = *std::move(compiled);
        } else if (when->is_string()) {
            reader.report("when", expr::describe(compiled.error()));
        } else {
            reader.expect("when", "an expression such as ${input.size > 10}");
        }
    }
    const auto* go = reader.find("go");
    auto names = go == nullptr   ? std::vector<Value>{}
                 : go->is_list() ? std::vector<Value>(go->as_list().begin(), go->as_list().end())
                                 : std::vector<Value>{*go};
    for (const auto& name : names) {
        if (!name.is_string()) {
            reader.expect("go", "the name of a task, or a list of them");
            return made;
        }
        made.go.emplace_back(name.as_string());
    }
    if (names.empty()) {
        reader.expect("go", "the name of a task, or a list of them");
    }
    return made;
}

} // namespace

OperatorPtr make_branch(const Value& task, const ExpressionSite& site, Problems& problems) {
    auto made = std::make_shared<BranchOperator>();
    const auto* form = task.find("branch");
    if (!form->is_list() || form->size() == 0) {
        trigger::report(problems, "branch",
                        fmt::format("found {}, expected a list of cases such as "
                                    "[{{when: ${{input.big}}, go: slow}}, {{go: fast}}]",
                                    trigger::describe(*form)));
        return made;
    }
    for (auto at = std::size_t{0}; at < form->size(); ++at) {
        auto path = trigger::join_path("branch", at);
        made->cases.push_back(read_case(form->as_list()[at], path, site, problems));
        if (!made->cases.back().when && at + 1 < form->size()) {
            trigger::report(problems, trigger::join_path("branch", at + 1),
                            "never reached: the case before it has no `when`, so it is always "
                            "taken; expected that one last");
        }
    }
    return made;
}

} // namespace sluice::workflow::dag::internal

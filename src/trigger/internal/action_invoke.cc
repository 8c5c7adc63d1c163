#include <cstdlib>

#include <fmt/format.h>

#include "event/trace.h"
#include "expr/cel/template.h"
#include "trigger/firing.h"
#include "trigger/internal/actions.h"
#include "trigger/internal/params.h"
#include "value/time_text.h"

namespace sluice::trigger::actions {

namespace {

constexpr auto priority_max = std::int64_t{1'000};
constexpr auto slots_max = std::int64_t{1'000'000};

/// Opens a task: the call of a function, or a nested run.
class Invoke final : public Action {
public:
    TaskKind kind = TaskKind::Call;
    expr::cel::Template target;
    expr::cel::Template input;
    expr::cel::Template subject;
    expr::cel::Template scope;
    expr::cel::Template child;
    std::optional<expr::cel::Template> each;
    Value policy;
    bool is_spread = false;

    Attempt<void> perform(Firing& firing) const override {
        auto carried = policy_in(firing.event());
        if (!each) {
            return open_task(firing, carried);
        }
        auto slice = TRY(firing.slice(*each));
        for (auto at = slice.begin; at < slice.end; ++at) {
            firing.set_item(at, slice.items);
            TRY(open_task(firing, carried));
        }
        firing.finish_slice(slice);
        return {};
    }

private:
    /// With the trace that the event belongs to, so that the call or run belongs to it too.
    Value policy_in(const event::Event& event) const {
        auto trace = event::trace_of(event);
        return trace.empty()
                   ? policy
                   : (policy.is_map() ? policy : Value::map({})).with("traceparent", trace);
    }

    Attempt<void> open_task(Firing& firing, const Value& carried) const {
        auto task = TaskState{.kind = kind, .policy = carried, .trigger = firing.trigger()};
        task.target = TRY(firing.evaluate_text(target, "the target"));
        task.input = TRY(firing.evaluate(input));
        task.subject = TRY(firing.evaluate_text(subject, "subject"));
        task.scope = firing.scope();
        auto written = TRY(firing.evaluate_text(scope, "scope"));
        if (written.empty()) {
            TRY(firing.require_scope());
        } else {
            task.scope = TRY(firing.open_scope(written, Value{}));
        }
        auto key = firing.next_key();
        if (task.subject.empty()) {
            task.subject = task.target;
        }
        if (kind == TaskKind::Run) {
            task.child = TRY(child_id(firing, key));
        }
        firing.record(TaskOpened{.key = key, .task = std::move(task)});
        return {};
    }

    /// A nested run lies on its parent's shard (`~`) unless it is to be spread.
    Attempt<std::string> child_id(Firing& firing, const TaskKey& key) const {
        auto named = TRY(firing.evaluate_text(child, "id"));
        auto id = named.empty() ? nested_run_id(firing.state().id, key.fire, key.index,
                                                is_spread ? Placement::Spread : Placement::Beside)
                                : named;
        if (named.empty() ? !is_run_id(id) : !is_given_run_id(id)) {
            return std::unexpected(
                expr::Fault{.code = "invalid_run",
                            .message = fmt::format("\"{}\" cannot be a run's id: expected {}", id,
                                                   given_run_id_rule)});
        }
        return id;
    }
};

bool is_duration(const Value& value) {
    return value.is_string() ? value::parse_duration(value.as_string()).has_value()
                             : (value.is_int() && value.as_int() >= 0) ||
                                   (value.is_double() && value.as_double() >= 0);
}

void check_retry(const Value& retry, Params& params) {
    if (!retry.is_map()) {
        params.problem("retry",
                       "expected a map with attempts, interval, backoff, max_delay, jitter, on");
        return;
    }
    for (const auto& [key, value] : retry.as_map()) {
        auto path = "retry/" + key;
        if (key == "attempts") {
            if (!value.is_int() || value.as_int() < 1) {
                params.problem(path, "expected a number of attempts, at least 1");
            }
        } else if (key == "interval" || key == "max_delay") {
            if (!is_duration(value)) {
                params.problem(path, "expected a duration such as 500ms");
            }
        } else if (key == "backoff" || key == "jitter") {
            if (!value.is_number()) {
                params.problem(path, "expected a number");
            }
        } else if (key == "on") {
            if (!value.is_list()) {
                params.problem(path, "expected a list of error kinds");
            }
        } else {
            params.problem(
                path,
                "unknown member: expected attempts, interval, backoff, max_delay, jitter or on");
        }
    }
}

Value read_policy(Params& params) {
    auto members = std::vector<value::Member>{};
    if (params.has("timeout")) {
        members.push_back({"timeout", params.get("timeout")});
        if (!is_duration(params.get("timeout"))) {
            params.problem("timeout", "expected a duration such as 30s");
        }
    }
    if (params.has("retry")) {
        members.push_back({"retry", params.get("retry")});
        check_retry(params.get("retry"), params);
    }
    if (params.has("priority")) {
        auto priority = params.get("priority");
        if (!priority.is_int() || std::abs(priority.as_int()) > priority_max) {
            params.problem("priority", fmt::format("expected an integer from {} to {}",
                                                   -priority_max, priority_max));
        }
        members.push_back({"priority", std::move(priority)});
    }
    if (params.has("pool")) {
        auto pool = params.get("pool");
        if (!pool.is_string() || pool.size() == 0) {
            params.problem("pool", "expected the name of a pool");
        }
        members.push_back({"pool", std::move(pool)});
    }
    if (params.has("slots")) {
        auto slots = params.get("slots");
        if (!slots.is_int() || slots.as_int() < 1 || slots.as_int() > slots_max) {
            params.problem("slots", fmt::format("expected an integer from 1 to {}", slots_max));
        }
        members.push_back({"slots", std::move(slots)});
    }
    if (params.has("large")) {
        auto large = params.get("large");
        if (large != Value{"kept"} && large != Value{"root"}) {
            params.problem("large", "expected kept, or root: only in runs that no other started");
        }
        members.push_back({"large", std::move(large)});
    }
    return members.empty() ? Value{} : Value::map(std::move(members));
}

} // namespace

Made make_invoke(const Value& params, const ActionSite& site, Problems& problems) {
    auto reader = Params{params,
                         "function",
                         {"function", "input", "subject", "scope", "each", "timeout", "retry",
                          "priority", "pool", "slots", "large"},
                         site.expressions,
                         problems};
    auto action = std::make_shared<Invoke>();
    action->target = reader.required_text("function");
    action->input = reader.any("input");
    action->subject = reader.text("subject");
    action->scope = reader.text("scope");
    action->child = reader.text("id");
    action->policy = read_policy(reader);
    if (reader.has("each")) {
        action->each = reader.any("each");
    }
    return action;
}

Made make_start(const Value& params, const ActionSite& site, Problems& problems) {
    auto reader =
        Params{params,
               "definition",
               {"definition", "input", "id", "subject", "scope", "each", "spread", "adopt"},
               site.expressions,
               problems};
    auto action = std::make_shared<Invoke>();
    action->kind = TaskKind::Run;
    action->target = reader.required_text("definition");
    action->input = reader.any("input");
    action->subject = reader.text("subject");
    action->scope = reader.text("scope");
    action->child = reader.text("id");
    action->is_spread = reader.flag("spread", false);
    if (reader.flag("adopt", false)) {
        action->policy = Value::object({{"adopt", true}});
    }
    if (reader.has("each")) {
        action->each = reader.any("each");
    }
    return action;
}

} // namespace sluice::trigger::actions

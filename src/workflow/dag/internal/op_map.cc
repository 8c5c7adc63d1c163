#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "trigger/arrival.h"
#include "trigger/form_reader.h"
#include "workflow/dag/internal/operators.h"
#include "workflow/dag/internal/settings.h"
#include "workflow/dag/internal/task_bindings.h"
#include "workflow/dag/internal/words.h"
#include "workflow/dag/step.h"

namespace sluice::workflow::dag::internal {

namespace {

using trigger::Attempt;

constexpr auto items_max = std::uint64_t{10'000'000};
constexpr auto failures_kept_max = std::size_t{10};
constexpr auto item_mark = std::string_view{"item"};
// A list to map over may come from anywhere and be long.
constexpr auto list_budget =
    expr::Budget{.steps_max = 50'000'000, .output_bytes_max = 256UL << 20U};

/// How far a map has come, as it is remembered in the scope of its items.
struct Counts {
    std::uint64_t fire = 0; ///< That began it: its calls are numbered by it,
    std::uint64_t base = 0; ///< from here on.
    std::uint64_t size = 0; ///< Items, or batches of them.
    std::uint64_t next = 0; ///< The first that has not begun.
    std::uint64_t done = 0;
    std::uint64_t failed = 0;
    Value failures; ///< The first of them.

    static Counts read(const Value& memory) {
        auto count = [&](std::string_view name) {
            const auto* member = memory.find(name);
            return member == nullptr ? 0 : static_cast<std::uint64_t>(member->as_int());
        };
        const auto* failures = memory.find("failures");
        return {.fire = count("fire"),
                .base = count("base"),
                .size = count("size"),
                .next = count("next"),
                .done = count("done"),
                .failed = count("failed"),
                .failures = failures == nullptr ? Value{} : *failures};
    }

    Value to_value() const {
        auto number = [](std::uint64_t count) { return Value{static_cast<std::int64_t>(count)}; };
        auto memory = Value::object({{"fire", number(fire)},
                                     {"base", number(base)},
                                     {"size", number(size)},
                                     {"next", number(next)},
                                     {"done", number(done)},
                                     {"failed", number(failed)}});
        return failures.is_null() ? memory : memory.with("failures", failures);
    }
};

/// How many items may fail.
struct Tolerance {
    std::uint64_t count = 0;
    double share = 0;

    bool holds(std::uint64_t failed, std::uint64_t size) const {
        return failed <= count ||
               static_cast<double>(failed) <= share * static_cast<double>(size) + 1e-9;
    }
};

/// Does one thing for each item of a list, so many at a time. What an item does lives in the scope
/// of the map: `tiles` for calls, `tiles/17` for a body of tasks.
class MapOperator final : public Operator {
public:
    Template over;
    std::string as = "item";
    std::uint64_t concurrency = 0; ///< Zero: all at once.
    std::uint64_t batch = 0;       ///< Zero: no batches.
    Tolerance tolerance;
    bool has_body = false;
    Template function;
    Template input;
    Value policy;
    Nanos timeout{0}; ///< Of an item that is a body.

    Attempt<void> start(Step& step) const override {
        auto items = TRY(step.evaluate(over, {}, list_budget));
        auto size = TRY(size_of(items));
        if (size == 0) {
            step.succeed(Value::list({}));
            return {};
        }
        auto scope =
            TRY(step.firing().open_scope("/" + step.own_path(), Value::object({{"items", items}})));
        auto counts = Counts{.fire = step.firing().fire().raw(), .size = batches_of(size)};
        counts.base = step.firing().reserve(counts.size);
        counts.next = concurrency == 0 ? counts.size : std::min(concurrency, counts.size);
        remember(step, scope, counts);
        return begin_slice(step, counts.next);
    }

    Attempt<void> go_on(Step& step) const override {
        auto scope = step.state().scope_at(step.own_path());
        auto fire = scope ? counts_in(step, *scope).fire : 0;
        if (fire != step.firing().fire().raw()) {
            auto slice = TRY(step.firing().slice(Value{}));
            slice.end = slice.count; // It has ended meanwhile, or begun again.
            step.firing().finish_slice(slice);
            return {};
        }
        return begin_slice(step, 0);
    }

    Attempt<void> take(Step& inner) const override {
        auto outer = owner_of(inner);
        if (!outer || !outer->is_active()) {
            return {};
        }
        const auto& event = inner.firing().event();
        if (event.type() == trigger::types::timer_fired) {
            return expire_item(inner, *outer);
        }
        auto index = event.data_at(std::array{std::string_view{"index"}});
        auto error = event.data_at(std::array{std::string_view{"error"}});
        auto result = event.data_at(std::array{std::string_view{"result"}});
        auto place = static_cast<std::uint64_t>(index->as_int());
        place -= has_body ? 0 : counts_in(*outer, inner.scope()).base;
        auto done = end_item(*outer, inner.scope(), place, error.value_or(Value{}),
                             result.value_or(Value{}));
        if (!done) {
            outer->fail(done.error());
        }
        return {};
    }

private:
    static Counts counts_in(const Step& step, trigger::Incarnation scope) {
        return Counts::read(memory_of(step.state(), scope, step.task()));
    }

    static void remember(Step& step, trigger::Incarnation scope, const Counts& counts) {
        step.firing().record(trigger::Remembered{
            .scope = scope, .trigger = step.task(), .memory = counts.to_value()});
    }

    static Attempt<std::uint64_t> size_of(const Value& items) {
        auto size =
            items.is_list() ? std::optional<std::uint64_t>{items.size()} : trigger::as_count(items);
        if (!size || *size > items_max) {
            return std::unexpected(expr::Fault{
                .code = "wrong_kind",
                .message = fmt::format("over is {}: expected a list or a count of up to {} items",
                                       trigger::describe(items), items_max)});
        }
        return *size;
    }

    std::uint64_t batches_of(std::uint64_t size) const {
        return batch == 0 ? size : (size + batch - 1) / batch;
    }

    /// The task around what has come: answers are delivered in the scope of the map.
    static std::optional<Step> owner_of(Step& inner) {
        auto path = std::string{outer_path(inner.path(), 1)};
        if (inner.firing().event().type() == trigger::types::timer_fired) {
            path = std::string{outer_path(path, 1)};
        }
        auto scope = inner.state().scope_at(path);
        return scope ? std::optional{Step{inner.firing(), inner.settings(), inner.task(), *scope}}
                     : std::nullopt;
    }

    Attempt<void> begin_slice(Step& step, std::uint64_t count) const {
        auto& firing = step.firing();
        auto slice = TRY(firing.slice(Value{static_cast<std::int64_t>(count)}));
        for (auto at = slice.begin; at < slice.end; ++at) {
            TRY(begin_item(step, at));
        }
        firing.finish_slice(slice);
        return {};
    }

    Value item_of(const Value& items, std::uint64_t index) const {
        if (batch == 0) {
            return items.is_list() ? items.as_list()[index]
                                   : Value{static_cast<std::int64_t>(index)};
        }
        auto values = std::vector<Value>{};
        auto size = size_of(items).value_or(0);
        for (auto at = index * batch; at < std::min(size, (index + 1) * batch); ++at) {
            values.push_back(items.is_list() ? items.as_list()[at]
                                             : Value{static_cast<std::int64_t>(at)});
        }
        return Value::list(std::move(values));
    }

    Attempt<void> begin_item(Step& step, std::uint64_t index) const {
        auto path = step.own_path();
        auto found = step.state().scopes.find(path);
        auto scope = found->second.incarnation;
        auto item = item_of(*found->second.variables.find("items"), index);
        auto number = Value{static_cast<std::int64_t>(index)};
        if (has_body) {
            return open_body(step, fmt::format("{}/{}", path, index),
                             Value::object({{as, std::move(item)}, {"index", number}}));
        }
        auto locals = Step::Locals{{as, std::move(item)}, {"index", number}};
        auto call = Call{.policy = policy};
        call.target = TRY(evaluate_text(step, function, "call", locals));
        call.input = TRY(step.evaluate(input, locals));
        auto counts = counts_in(step, scope);
        step.call(std::move(call),
                  {.fire = trigger::FireNumber{counts.fire}, .index = counts.base + index}, scope);
        return {};
    }

    Attempt<void> open_body(Step& step, const std::string& path, Value variables) const {
        auto& firing = step.firing();
        auto scope = TRY(firing.open_scope("/" + path, variables));
        if (timeout > Nanos{0}) {
            auto item = Step{firing, step.settings(), step.task(), scope};
            item.set_timer(timeout, Value{item_mark});
        }
        firing.emit({.type = std::string{words::body_opened},
                     .subject = step.id(),
                     .data = {},
                     .scope = path},
                    scope);
        return {};
    }

    /// A body that takes too long counts as failed.
    Attempt<void> expire_item(Step& item, Step& outer) const {
        auto scope = item.state().scope_at(outer.own_path());
        auto path = item.path();
        auto digits = std::string_view{path}.substr(path.rfind('/') + 1);
        auto error = Value::object({{"kind", "timeout"}, {"message", "the item took too long"}});
        return end_item(outer, *scope, std::stoull(std::string{digits}), error, {});
    }

    Attempt<void> end_item(Step& outer, trigger::Incarnation scope, std::uint64_t index,
                           const Value& error, Value result) const {
        auto counts = counts_in(outer, scope);
        if (has_body) {
            if (auto path = fmt::format("{}/{}", outer.own_path(), index);
                outer.state().scope_at(path)) {
                outer.firing().decider().close_scope(path);
            }
        }
        ++counts.done;
        if (!error.is_null()) {
            ++counts.failed;
            note_failure_of(counts, index, error);
            if (!tolerance.holds(counts.failed, counts.size)) {
                return fail(outer, index, error);
            }
        }
        outer.firing().record(trigger::Collected{
            .scope = scope, .trigger = outer.task(), .index = index, .value = std::move(result)});
        if (counts.done == counts.size) {
            return finish(outer, scope, counts);
        }
        auto next = counts.next;
        counts.next += next < counts.size ? 1 : 0;
        remember(outer, scope, counts);
        if (next < counts.size) {
            TRY(begin_item(outer, next));
        }
        return {};
    }

    static void note_failure_of(Counts& counts, std::uint64_t index, const Value& error) {
        auto failures = counts.failures.is_null()
                            ? std::vector<Value>{}
                            : std::vector<Value>(counts.failures.as_list().begin(),
                                                 counts.failures.as_list().end());
        if (failures.size() < failures_kept_max) {
            failures.push_back(
                Value::object({{"index", static_cast<std::int64_t>(index)}, {"error", error}}));
            counts.failures = Value::list(std::move(failures));
        }
    }

    static Attempt<void> fail(Step& outer, std::uint64_t index, const Value& error) {
        const auto* message = error.find("message");
        auto told = error.with("message", fmt::format("item {}: {}", index,
                                                      message != nullptr && message->is_string()
                                                          ? message->as_string()
                                                          : std::string_view{}));
        outer.cancel_work();
        outer.fail(told.with("index", static_cast<std::int64_t>(index)));
        return {};
    }

    Attempt<void> finish(Step& outer, trigger::Incarnation scope, const Counts& counts) const {
        auto values = outer.state().collected_by(scope, outer.task());
        auto is_flat = batch > 0 && std::ranges::all_of(values, &Value::is_list);
        if (is_flat) {
            auto flat = std::vector<Value>{};
            for (const auto& each : values) {
                flat.insert(flat.end(), each.as_list().begin(), each.as_list().end());
            }
            values = std::move(flat);
        }
        outer.firing().decider().close_scope(outer.own_path());
        outer.succeed(Value::list(std::move(values)));
        if (!counts.failures.is_null()) {
            outer.remember(outer.memory().with("failures", counts.failures));
        }
        return {};
    }
};

Tolerance read_tolerance(const trigger::FormReader& reader) {
    auto tolerance = Tolerance{};
    const auto* form = reader.find("tolerate");
    if (form == nullptr) {
        return tolerance;
    }
    if (auto count = trigger::as_count(*form)) {
        tolerance.count = *count;
    } else if (form->is_double() && form->as_double() > 0 && form->as_double() < 1) {
        tolerance.share = form->as_double();
    } else {
        reader.expect("tolerate", "a count of items, or a share of them such as 0.1");
    }
    return tolerance;
}

/// The expression that yields the item.
std::string itself(const std::string& name, Language language) {
    return fmt::format("${{{}{}}}", language == Language::Jsonata ? "$" : "", name);
}

bool is_identifier(std::string_view text) {
    auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9');
    });
}

} // namespace

OperatorPtr make_map(const Value& task, const ExpressionSite& site, Problems& problems) {
    auto made = std::make_shared<MapOperator>();
    const auto& form = *task.find("map");
    auto reader =
        trigger::FormReader{form,
                            "map",
                            problems,
                            {"over", "as", "concurrency", "batch", "tolerate", "call", "input",
                             "retry", "timeout", "priority", "pool", "slots", "tasks", "result"}};
    if (!form.is_map()) {
        return made;
    }
    if (reader.find("over") == nullptr) {
        reader.expect("over", "a list, a count, or an expression such as ${input.files}");
    }
    made->over = read_template(form, "over", "map", site, problems);
    made->as = reader.text("as").value_or("item");
    if (!is_identifier(made->as) ||
        (made->as != "item" && std::ranges::find(site.names, made->as) != site.names.end())) {
        reader.expect("as", "a name of letters and digits that means nothing else here");
    }
    made->concurrency = reader.count("concurrency", 1, items_max).value_or(0);
    made->batch = reader.count("batch", 1, items_max).value_or(0);
    made->tolerance = read_tolerance(reader);
    made->has_body = reader.find("tasks") != nullptr;
    if (made->has_body == (reader.find("call") != nullptr)) {
        trigger::report(problems, "map",
                        "expected either call, a function, or tasks for each item");
        return made;
    }
    if (made->has_body) {
        made->timeout = reader.duration("timeout").value_or(Nanos{0});
        for (const auto* member : {"input", "retry", "priority", "pool", "slots"}) {
            if (reader.find(member) != nullptr) {
                reader.report(member, "belongs to a call: expected it at a task of the body");
            }
        }
        return made;
    }
    if (reader.find("result") != nullptr) {
        reader.report("result", "is what a body gives: with call it is what the function answers");
    }
    auto inner = site;
    inner.names.insert(inner.names.end(), {made->as, "index"});
    made->function = read_text(form, "call", "the name of a function", "map", inner, problems);
    made->input = form.find("input") == nullptr
                      ? read_template(Value::object({{"input", itself(made->as, site.language)}}),
                                      "input", "map", inner, problems)
                      : read_template(form, "input", "map", inner, problems);
    made->policy = with_large(task, read_policy(form, "map", problems));
    return made;
}

} // namespace sluice::workflow::dag::internal

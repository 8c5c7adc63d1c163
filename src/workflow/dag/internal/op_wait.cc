#include <utility>

#include <fmt/format.h>

#include "trigger/arrival.h"
#include "trigger/form_reader.h"
#include "value/time_text.h"
#include "workflow/dag/internal/operators.h"
#include "workflow/dag/internal/settings.h"
#include "workflow/dag/internal/words.h"
#include "workflow/dag/step.h"

namespace sluice::workflow::dag::internal {

namespace {

using trigger::Attempt;

constexpr auto early_max = std::size_t{100};
constexpr auto wait_mark = std::string_view{"wait"};

std::unexpected<expr::Fault> faulty(std::string_view code, std::string message) {
    return std::unexpected(expr::Fault{.code = std::string{code}, .message = std::move(message)});
}

Value event_value(const event::Event& event) {
    auto members = event.attributes();
    if (event.has_data()) {
        members.push_back({"data", event.data()});
    }
    return Value::map(std::move(members));
}

/// Waits for a time, or for an event from outside. One that comes before its time is kept.
class WaitOperator final : public Operator {
public:
    enum class Form : std::uint8_t { For, Until, Event };

    Form form = Form::For;
    Template when; ///< How long, or until when.
    std::optional<Template> match;

    Attempt<void> start(Step& step) const override {
        if (form == Form::Event) {
            const auto* early = step.memory().find("early");
            if (early != nullptr && early->size() > 0) {
                step.succeed(early->as_list().front());
                return {};
            }
            step.remember(step.memory().with("status", words::waiting));
            return {};
        }
        auto value = TRY(step.evaluate(when));
        if (form == Form::For) {
            auto duration = trigger::as_duration(value);
            if (!duration) {
                return faulty("invalid_duration",
                              fmt::format("wait for {}: expected a duration such as 30s",
                                          trigger::describe(value)));
            }
            step.remember(step.memory().with("status", words::waiting));
            step.set_timer(*duration, Value{wait_mark});
            return {};
        }
        auto time = TRY(read_time(value));
        step.remember(step.memory().with("status", words::waiting));
        step.set_timer(time, Value{wait_mark});
        return {};
    }

    Attempt<void> take(Step& step) const override {
        const auto& event = step.firing().event();
        if (form != Form::Event) {
            if (step.status() == words::waiting) {
                step.succeed({});
            }
            return {};
        }
        auto value = event_value(event);
        if (match) {
            auto verdict = TRY(step.evaluate(*match, {{"event", value}}));
            if (!verdict.is_bool() || !verdict.as_bool()) {
                return {};
            }
        }
        if (step.status() == words::waiting) {
            step.succeed(std::move(value));
        } else if (step.status() == words::pending) {
            keep(step, std::move(value));
        }
        return {};
    }

private:
    static Attempt<Time> read_time(const Value& value) {
        if (value.is_timestamp()) {
            return value.as_timestamp();
        }
        if (value.is_string()) {
            if (auto parsed = value::parse_time(value.as_string())) {
                return *parsed;
            }
        }
        return faulty("invalid_time",
                      fmt::format("wait until {}: expected a time such as 2026-11-15T05:57:30Z",
                                  trigger::describe(value)));
    }

    static void keep(Step& step, Value event) {
        const auto* early = step.memory().find("early");
        auto events = early == nullptr
                          ? std::vector<Value>{}
                          : std::vector<Value>(early->as_list().begin(), early->as_list().end());
        if (events.size() < early_max) {
            events.push_back(std::move(event));
        }
        step.remember(step.memory().with("early", Value::list(std::move(events))));
    }
};

void read_event(const Value& form, ExpressionSite site, WaitOperator& made, Problems& problems) {
    auto reader = trigger::FormReader{form, "wait/event", problems, {"type", "subject", "match"}};
    auto type = reader.text("type");
    if (!type || type->empty() || type->starts_with(trigger::types::reserved_prefix)) {
        reader.expect("type", "the type of an event that does not begin with sluice.");
    }
    reader.text("subject");
    site.names.emplace_back("event");
    if (auto text = reader.expression("match")) {
        auto compiled = Template::compile_condition(*text, site);
        if (compiled) {
            made.match = *std::move(compiled);
        } else {
            reader.report("match", expr::describe(compiled.error()));
        }
    }
}

} // namespace

OperatorPtr make_wait(const Value& task, const ExpressionSite& site, Problems& problems) {
    auto made = std::make_shared<WaitOperator>();
    const auto& form = *task.find("wait");
    if (!form.is_map()) {
        auto is_text = form.is_string() && form.as_string().contains("${");
        if (!is_text && !trigger::as_duration(form)) {
            trigger::report(problems, "wait",
                            fmt::format("found {}, expected a duration such as 30s, or a map of "
                                        "for, until or event",
                                        trigger::describe(form)));
        }
        made->when = read_template(task, "wait", "", site, problems);
        return made;
    }
    auto reader = trigger::FormReader{form, "wait", problems, {"for", "until", "event"}};
    if (form.size() != 1) {
        trigger::report(problems, "wait", "expected exactly one of for, until and event");
    }
    if (const auto* event = reader.find("event")) {
        made->form = WaitOperator::Form::Event;
        read_event(*event, site, *made, problems);
    } else if (reader.find("until") != nullptr) {
        made->form = WaitOperator::Form::Until;
        made->when = read_template(form, "until", "wait", site, problems);
    } else {
        made->when = read_template(form, "for", "wait", site, problems);
    }
    return made;
}

} // namespace sluice::workflow::dag::internal

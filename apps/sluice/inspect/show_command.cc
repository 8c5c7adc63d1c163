#include "sluice/inspect/show_command.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "server/inspect/history_view.h"
#include "server/inspect/narrator.h"
#include "server/inspect/run_view.h"
#include "server/inspect/waiting.h"
#include "sluice/inspect/quarantine.h"
#include "sluice/output.h"
#include "sluice/session.h"
#include "value/json.h"
#include "value/time_text.h"

namespace sluice::app {

namespace {

using engine::Inspector;
using engine::RunName;
using namespace server::inspect;

constexpr auto statuses = {trigger::Status::Running, trigger::Status::Succeeded,
                           trigger::Status::Failed, trigger::Status::Cancelled,
                           trigger::Status::TimedOut};

std::string time_text(Time time) {
    return value::format_time(std::chrono::floor<std::chrono::milliseconds>(time));
}

std::string duration_text(Time from, const std::optional<Time>& to) {
    return to ? value::format_duration(std::chrono::floor<std::chrono::milliseconds>(*to - from))
              : "";
}

/// A time, or a duration before now.
Result<std::optional<Time>> read_bound(const std::string& text, std::string_view option) {
    if (text.empty()) {
        return std::nullopt;
    }
    if (auto time = value::parse_time(text)) {
        return *time;
    }
    if (auto ago = value::parse_duration(text)) {
        return SystemClock{}.wall() - *ago;
    }
    return fail(Errc::InvalidInput,
                "{} {}: expected a time such as 2026-11-15T05:57:30Z, or a duration before now "
                "such as 2h",
                option, text);
}

Result<engine::RunFilter> filter_of(const ShowOptions& options) {
    auto filter = engine::RunFilter{.definition = options.definition,
                                    .label = options.label,
                                    .most = options.limit,
                                    .cursor = options.cursor};
    for (auto status : statuses) {
        if (options.status == to_string(status)) {
            filter.status = status;
        }
    }
    filter.started_since = TRY(read_bound(options.since, "--since"));
    filter.started_until = TRY(read_bound(options.until, "--until"));
    filter.ended_since = TRY(read_bound(options.ended_since, "--ended-since"));
    filter.ended_until = TRY(read_bound(options.ended_until, "--ended-until"));
    return filter;
}

Result<void> show_runs(Inspector& inspector, const ShowOptions& options) {
    auto filter = TRY(filter_of(options));
    auto page = TRY(inspector.list(filter));
    auto table = Table{{"RUN", "DEFINITION", "STATUS", "STARTED", "DURATION"}};
    auto items = std::vector<Value>{};
    for (const auto& [run, summary] : page.runs) {
        table.add({run.id, summary.definition, std::string{to_string(summary.status)},
                   time_text(summary.started), duration_text(summary.started, summary.ended)});
        auto item = Value::object({{"run", run.id},
                                   {"definition", summary.definition},
                                   {"status", to_string(summary.status)},
                                   {"started", summary.started},
                                   {"labels", summary.labels}});
        item = summary.ended ? item.with("ended", *summary.ended) : item;
        items.push_back(summary.parent.empty() ? item : item.with("parent", summary.parent));
    }
    if (options.is_json) {
        auto cursor = page.cursor.empty() ? Value{} : Value{page.cursor};
        print_json(Value::object({{"runs", Value::list(std::move(items))}, {"cursor", cursor}}));
        return {};
    }
    table.print();
    if (!page.cursor.empty()) {
        say("there is more: the same with --cursor {}", page.cursor);
    }
    return {};
}

void print_list(std::string_view heading, const std::vector<std::string>& lines) {
    if (lines.empty()) {
        return;
    }
    print("{}", heading);
    for (const auto& line : lines) {
        print("  {}", line);
    }
}

void print_summary(const trigger::RunState& state, const std::vector<WaitingTrigger>& waiting) {
    const auto& progress = state.progress;
    print("run         {}", state.id);
    print("definition  {}", state.info.definition);
    print("status      {}", to_string(progress.status));
    if (state.info.generation > 1) {
        print("generation  {}", state.info.generation);
    }
    print("started     {}", time_text(state.info.started));
    if (progress.ended) {
        print("ended       {}, after {}", time_text(*progress.ended),
              duration_text(state.info.started, progress.ended));
    }
    print("input       {}", brief(state.info.input, 200));
    if (progress.status == trigger::Status::Succeeded) {
        print("result      {}", brief(progress.result, 2'000));
    } else if (progress.ended) {
        print("error       {}", describe_error(progress.error));
    }
    print("counts      {} events, {} fired, {} duplicates", progress.events, progress.fires,
          progress.duplicates);
    if (progress.ids_forgotten_before) {
        print("duplicates  known exactly of events since {}",
              time_text(*progress.ids_forgotten_before));
    }
    auto lines = std::vector<std::string>{};
    std::ranges::transform(waiting, std::back_inserter(lines),
                           [](const auto& each) { return to_text(each); });
    if (!state.has_ended()) {
        print_list("waiting triggers", lines);
    }
    for (const auto& [heading, part] : {std::pair{"open tasks", tasks_view(state)},
                                        {"timers", timers_view(state)},
                                        {"kept events", kept_view(state)}}) {
        lines.clear();
        std::ranges::transform(part.as_list(), std::back_inserter(lines),
                               [](const Value& item) { return brief(item, 200); });
        print_list(heading, lines);
    }
}

Result<void> show_summary(Inspector& inspector, const RunName& run, const ShowOptions& options) {
    auto state = TRY(inspector.run(run));
    auto waiting = TRY(waiting_triggers(inspector, run));
    if (!options.is_json) {
        print_summary(*state, waiting);
        return {};
    }
    auto items = std::vector<Value>{};
    std::ranges::transform(waiting, std::back_inserter(items),
                           [](const auto& each) { return to_value(each); });
    print_json(state_view(*state).with("waiting", Value::list(std::move(items))));
    return {};
}

std::string state_text(const WaitingTrigger& trigger, bool has_ended) {
    if (trigger.is_gone) {
        return "gone";
    }
    if (has_ended) {
        return "over";
    }
    return trigger.is_on ? "waits" : "disabled";
}

Result<void> show_triggers(Inspector& inspector, const RunName& run, const ShowOptions& options) {
    if (options.is_json) {
        print_json(TRY(inspector.triggers(run)));
        return {};
    }
    auto has_ended = TRY(inspector.run(run))->has_ended();
    auto table = Table{{"TRIGGER", "SCOPE", "STATE", "PROGRESS", "FIRED", "ON"}};
    for (const auto& each : TRY(trigger_rows(inspector, run))) {
        table.add({each.id, each.scope, state_text(each, has_ended),
                   fmt::format("{}", each.progress), fmt::format("{}", each.fired), each.patterns});
    }
    table.print();
    return {};
}

/// As JSON lines: a history may be long.
Result<void> show_history(Inspector& inspector, const RunName& run, const ShowOptions& options) {
    auto narrator = Narrator{TRY(inspector.trigger_names(run))};
    auto has_changes = options.section == Section::History;
    auto detail = has_changes ? EntryDetail::Changes : EntryDetail::Event;
    auto count = std::size_t{0};
    TRY(inspector.read_history(run, [&](const trigger::Entry& entry) {
        if (count++ == options.limit) {
            say("there is more: these are the first {} events (--limit)", options.limit);
            return false;
        }
        if (options.is_json) {
            print_line(value::to_json(entry_view(entry, detail)));
            return true;
        }
        narrator.note(entry);
        auto heading = heading_of(entry);
        print("#{}  {}  {}  {}{}  id {}  {}", entry.number.raw(), time_text(entry.moment.time),
              to_string(entry.origin), heading.type,
              heading.subject.empty() ? "" : " of " + heading.subject, heading.id,
              to_string(entry.fate));
        if (has_changes) {
            for (const auto& sentence : narrator.consequences(entry)) {
                print("    {}", sentence);
            }
        }
        return true;
    }));
    return {};
}

Result<void> show_part(Inspector& inspector, const RunName& run, const ShowOptions& options) {
    auto state = TRY(inspector.run(run));
    auto part = options.section == Section::Contexts ? contexts_view(*state)
                : options.section == Section::Timers ? timers_view(*state)
                                                     : tasks_view(*state);
    if (options.is_json) {
        print_json(part);
    } else {
        print_line(value::to_pretty_json(part));
    }
    return {};
}

Result<void> show_in(Inspector& inspector, const ShowOptions& options) {
    if (options.run.empty()) {
        return show_runs(inspector, options);
    }
    auto run = RunName{.id = options.run};
    TRY(inspector.run(run));
    switch (options.section) {
        case Section::Summary: return show_summary(inspector, run, options);
        case Section::Triggers: return show_triggers(inspector, run, options);
        case Section::History:
        case Section::Events: return show_history(inspector, run, options);
        case Section::Contexts:
        case Section::Timers:
        case Section::Tasks: break;
    }
    return show_part(inspector, run, options);
}

} // namespace

ExitCode show(const ShowOptions& options) {
    auto store = open_to_read(options.data);
    if (!store) {
        return report(store.error());
    }
    auto vocabulary = trigger::Vocabulary{};
    auto inspector = Inspector{**store, vocabulary};
    auto shown =
        options.is_quarantine ? show_quarantine(**store, options) : show_in(inspector, options);
    return shown ? ExitCode::Ok : report(shown.error());
}

} // namespace sluice::app

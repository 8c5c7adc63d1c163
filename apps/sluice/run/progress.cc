#include "sluice/run/progress.h"

#include <utility>

#include <unistd.h>

#include "engine/dispatcher.h"
#include "reactor/thread.h"
#include "sluice/output.h"
#include "value/json.h"

namespace sluice::app {

namespace {

constexpr auto redraw_interval = std::chrono::milliseconds{100};

void write_raw(std::string_view text) {
    [[maybe_unused]] auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

/// The event's data, where it has some.
Value data_of(const trigger::Entry& entry) {
    auto event = value::parse_json(entry.json);
    const auto* data = event ? event->find("data") : nullptr;
    return data == nullptr ? Value{} : *data;
}

} // namespace

Progress::Progress(ProgressStyle style, std::string run) : style_(style), run_(std::move(run)) {}

Progress::~Progress() {
    finish();
}

void Progress::begin(engine::Catalog& catalog, const store::Store& store) {
    names_ = std::make_unique<TriggerNames>(catalog, store);
    if (style_ != ProgressStyle::Quiet) {
        thread_ = reactor::start_thread("progress", [this](std::stop_token) { work(); });
    }
}

void Progress::take(const engine::RunName& run, std::string_view record) {
    ++activity_;
    if (style_ != ProgressStyle::Quiet) {
        mailbox_.push({.run = run, .bytes = std::string{record}});
    }
}

void Progress::tell(std::string_view line, const Value& json) {
    if (style_ == ProgressStyle::Quiet) {
        return;
    }
    auto lock = std::lock_guard{writing_};
    clear_status();
    say_line(style_ == ProgressStyle::Json ? value::to_json(json) : line);
}

void Progress::finish() {
    mailbox_.close();
    if (thread_.joinable()) {
        thread_.join();
    }
    auto lock = std::lock_guard{writing_};
    clear_status();
}

void Progress::work() {
    auto records = std::vector<Record>{};
    auto drawn = began_;
    while (true) {
        auto wake = mailbox_.wait(std::chrono::steady_clock::now() + redraw_interval);
        mailbox_.pop_all(records);
        for (const auto& record : records) {
            tell_record(record);
        }
        auto now = std::chrono::steady_clock::now();
        if (style_ == ProgressStyle::Terminal && now - drawn >= redraw_interval) {
            drawn = now;
            draw_status();
        }
        if (wake == reactor::Wake::Closed && records.empty()) {
            return;
        }
    }
}

void Progress::tell_record(const Record& record) {
    auto entries = trigger::decode_record(record.bytes);
    if (!entries) {
        tell(entries.error().message,
             Value::object({{"kind", "error"}, {"message", entries.error().message}}));
        return;
    }
    for (const auto& entry : *entries) {
        tell_entry(record.run, entry);
    }
}

void Progress::tell_entry(const engine::RunName& run, const trigger::Entry& entry) {
    ++counts_.events;
    if (entry.origin == trigger::Origin::Task && entry.fate != trigger::Fate::Late) {
        tell_answer(run, entry);
    }
    for (const auto& change : entry.changes) {
        names_->note(run, change);
        count(change);
        tell_change(run, entry, change);
    }
}

void Progress::count(const trigger::Change& change) {
    if (std::holds_alternative<trigger::Fired>(change)) {
        ++counts_.fired;
    } else if (std::holds_alternative<trigger::TaskOpened>(change)) {
        ++counts_.running;
    }
}

void Progress::tell_answer(const engine::RunName& run, const trigger::Entry& entry) {
    auto is_retried = entry.fate == trigger::Fate::Retried;
    auto data = data_of(entry);
    const auto* error = data.find("error");
    if (!is_retried) {
        counts_.running -= counts_.running > 0 ? 1 : 0;
        ++(error == nullptr ? counts_.done : counts_.failed);
    }
    if (style_ != ProgressStyle::Json && error == nullptr) {
        return;
    }
    auto status = is_retried ? "retried" : error == nullptr ? "succeeded" : "failed";
    auto task = engine::Dispatcher::key_of(
        run, {.fire = trigger::FireNumber{entry.refs[0]}, .index = entry.refs[1]});
    auto what = data.find("function") != nullptr ? text_at(data, "function") : text_at(data, "run");
    auto json = Value::object({{"kind", "task"},
                               {"status", status},
                               {"run", run.id},
                               {"task", task},
                               {"function", what},
                               {"attempt", number(entry.refs[2])}});
    if (error != nullptr) {
        json = json.with("error", *error);
    }
    auto line = error == nullptr ? std::string{}
                                 : fmt::format("task {} ({}) {} at attempt {}: {}", task, what,
                                               status, entry.refs[2], describe_error(*error));
    tell(line, json);
}

void Progress::tell_change(const engine::RunName& run, const trigger::Entry& entry,
                           const trigger::Change& change) {
    auto is_json = style_ == ProgressStyle::Json;
    if (const auto* faulted = std::get_if<trigger::Faulted>(&change)) {
        auto name = names_->name(run, faulted->trigger);
        tell(fmt::format("trigger {} failed on event #{}: {}: {}", name, entry.number.raw(),
                         faulted->code, faulted->message),
             Value::object({{"kind", "fault"},
                            {"run", run.id},
                            {"trigger", name},
                            {"event", number(entry.number.raw())},
                            {"code", faulted->code},
                            {"message", faulted->message}}));
    } else if (const auto* fired = std::get_if<trigger::Fired>(&change);
               fired != nullptr && is_json) {
        tell("", Value::object({{"kind", "fired"},
                                {"run", run.id},
                                {"trigger", names_->name(run, fired->trigger)},
                                {"fire", number(fired->fire.raw())},
                                {"event", number(entry.number.raw())}}));
    } else if (const auto* opened = std::get_if<trigger::TaskOpened>(&change);
               opened != nullptr && is_json) {
        tell("", Value::object({{"kind", "task"},
                                {"status", "started"},
                                {"run", run.id},
                                {"task", engine::Dispatcher::key_of(run, opened->key)},
                                {"function", opened->task.target},
                                {"attempt", 1}}));
    } else if (const auto* ended = std::get_if<trigger::Ended>(&change)) {
        names_->forget(run);
        if (is_json) {
            tell("", Value::object({{"kind", "ended"},
                                    {"run", run.id},
                                    {"status", to_string(ended->status)},
                                    {"result", ended->result},
                                    {"error", ended->error}}));
        }
    }
}

void Progress::draw_status() {
    auto elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    auto lock = std::lock_guard{writing_};
    write_raw(fmt::format(
        "\r\033[K{}  {} events  {} fired  tasks {} running, {} done, {} failed  {:.1f} s", run_,
        counts_.events, counts_.fired, counts_.running, counts_.done, counts_.failed, elapsed));
    has_status_ = true;
}

void Progress::clear_status() {
    if (std::exchange(has_status_, false)) {
        write_raw("\r\033[K");
    }
}

} // namespace sluice::app

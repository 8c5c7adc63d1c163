#include "trial/test_file.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "trial/internal/reply_reader.h"
#include "trigger/form_reader.h"
#include "value/time_text.h"
#include "workflow/raw/parse.h"

namespace sluice::trial {

namespace {

using internal::Problems;
using trigger::describe;
using trigger::FormReader;
using trigger::join_path;

constexpr auto cases_max = std::size_t{100'000};
constexpr auto statuses = {"succeeded", "failed", "cancelled", "timed_out"};
constexpr Time start_otherwise = std::chrono::sys_days{std::chrono::year{2026} / 1 / 1};

class CaseReader {
public:
    CaseReader(const Value& form, const std::string& path, Problems& problems)
        : form_(form),
          problems_(problems),
          reader_(form, path, problems,
                  {"name", "input", "start", "functions", "tasks", "events", "approvals", "mends",
                   "cancel", "expect"}) {}

    Case read(const Replies& functions, const Replies& tasks) {
        auto read = Case{.functions = functions, .tasks = tasks};
        if (!form_.is_map()) {
            return read;
        }
        read.name = reader_.text("name").value_or("");
        if (read.name.empty()) {
            reader_.expect("name", "the name of the case");
        }
        if (const auto* input = form_.find("input")) {
            read.input = *input;
        }
        read.start = read_start();
        add_replies("functions", read.functions);
        add_replies("tasks", read.tasks);
        each("events", [&](const Value& item, const std::string& path) {
            read.events.push_back(read_event(item, path));
        });
        each("approvals", [&](const Value& item, const std::string& path) {
            read.words.push_back(read_approval(item, path));
        });
        each("mends", [&](const Value& item, const std::string& path) {
            read.words.push_back(read_mend(item, path));
        });
        read.cancel = read_cancel();
        read.expected = read_expected();
        return read;
    }

private:
    Time read_start() {
        const auto* given = reader_.find("start");
        if (given == nullptr) {
            return start_otherwise;
        }
        auto time = given->is_string() ? value::parse_time(given->as_string())
                                       : Result<Time>{fail(Errc::InvalidInput, "no text")};
        if (!time) {
            reader_.expect("start", "a time such as \"2026-01-01T00:00:00Z\"");
        }
        return time.value_or(start_otherwise);
    }

    void add_replies(std::string_view name, Replies& replies) {
        if (const auto* section = reader_.find(name)) {
            for (auto& [key, given] :
                 internal::read_replies(*section, reader_.path_of(name), problems_)) {
                replies.insert_or_assign(key, std::move(given));
            }
        }
    }

    template <typename Read>
    void each(std::string_view name, Read read) {
        const auto* list = reader_.find(name);
        if (list == nullptr) {
            return;
        }
        if (!list->is_list()) {
            reader_.expect(name, "a list");
            return;
        }
        for (auto at = std::size_t{0}; at < list->size(); ++at) {
            read(list->as_list()[at], join_path(reader_.path_of(name), at));
        }
    }

    SentEvent read_event(const Value& form, const std::string& path) {
        auto reader =
            FormReader{form, path, problems_, {"after", "type", "subject", "scope", "data"}};
        auto sent = SentEvent{.after = reader.duration("after").value_or(Nanos{0}),
                              .type = reader.text("type").value_or(""),
                              .subject = reader.text("subject").value_or(""),
                              .scope = reader.text("scope").value_or(""),
                              .data = {}};
        if (form.is_map() && (sent.type.empty() || sent.type.starts_with("sluice."))) {
            reader.expect("type", "the type of an event, which does not begin with \"sluice.\"");
        }
        if (const auto* data = form.find("data")) {
            sent.data = *data;
        }
        return sent;
    }

    Word read_approval(const Value& form, const std::string& path) {
        auto reader =
            FormReader{form, path, problems_, {"after", "task", "form", "by", "reject", "reason"}};
        auto word = read_word(form, reader);
        word.action = "task.approve";
        word.params = form.is_map() ? form.without("after") : Value{};
        return word;
    }

    Word read_mend(const Value& form, const std::string& path) {
        auto reader = FormReader{
            form, path, problems_, {"after", "task", "retry", "input", "skip", "result"}};
        auto word = read_word(form, reader);
        auto given = 0;
        for (const auto& [member, action] : {std::pair{"retry", "task.retry"},
                                             {"skip", "task.skip"},
                                             {"result", "task.set_result"}}) {
            if (form.find(member) != nullptr) {
                ++given;
                word.action = action;
            }
        }
        if (form.is_map() && given != 1) {
            trigger::report(problems_, path,
                            fmt::format("expected one of retry: true, skip: true or result, found "
                                        "{} of them",
                                        given));
        }
        word.params =
            form.is_map() ? form.without("after").without("retry").without("skip") : Value{};
        return word;
    }

    static Word read_word(const Value& form, const FormReader& reader) {
        auto word = Word{};
        word.after = reader.duration("after").value_or(Nanos{0});
        word.task = reader.text("task").value_or("");
        if (form.is_map() && word.task.empty()) {
            reader.expect("task", "the task that waits for it");
        }
        return word;
    }

    std::optional<Cancellation> read_cancel() {
        const auto* form = reader_.find("cancel");
        if (form == nullptr) {
            return std::nullopt;
        }
        if (!form->is_map()) {
            return Cancellation{.after = reader_.duration("cancel").value_or(Nanos{0}),
                                .reason = {}};
        }
        auto reader = FormReader{*form, reader_.path_of("cancel"), problems_, {"after", "reason"}};
        return Cancellation{.after = reader.duration("after").value_or(Nanos{0}),
                            .reason = reader.text("reason").value_or("")};
    }

    Expected read_expected() {
        auto expected = Expected{};
        const auto* form = reader_.find("expect");
        if (form == nullptr) {
            return expected;
        }
        auto reader = FormReader{*form,
                                 reader_.path_of("expect"),
                                 problems_,
                                 {"status", "result", "result_has", "error", "tasks", "fired",
                                  "calls", "sent", "order", "duration"}};
        if (!form->is_map()) {
            return expected;
        }
        auto copy = [&](std::string_view name, std::optional<Value>& to) {
            if (const auto* found = form->find(name)) {
                to = *found;
            }
        };
        copy("result", expected.result);
        copy("result_has", expected.result_has);
        read_status(reader, expected);
        read_texts(reader, expected);
        expected.calls = read_calls(reader, "calls", "inputs");
        expected.sent = read_calls(reader, "sent", "events");
        read_duration(reader, expected);
        return expected;
    }

    /// Who expects an error expects that the run failed.
    static void read_status(const FormReader& reader, Expected& expected) {
        if (const auto* error = reader.find("error")) {
            expected.status = "failed";
            if (error->is_string()) {
                expected.error_kind = error->as_string();
            } else if (error->is_map()) {
                expected.error = *error;
            } else {
                reader.expect("error", "its kind, or a map of members that it has");
            }
        }
        if (auto status = reader.text("status")) {
            expected.status = *status;
            if (std::ranges::find(statuses, *status) == std::end(statuses)) {
                reader.expect("status", fmt::format("one of {}", fmt::join(statuses, ", ")));
            }
        }
    }

    void read_texts(const FormReader& reader, Expected& expected) {
        for (const auto& [name, status] : members(reader, "tasks")) {
            if (status.is_string()) {
                expected.tasks.emplace(name, status.as_string());
            } else {
                report(join_path(reader.path_of("tasks"), name), status, "the status of a task");
            }
        }
        for (const auto& [name, count] : members(reader, "fired")) {
            if (auto number = trigger::as_count(count)) {
                expected.fired.emplace(name, *number);
            } else {
                report(join_path(reader.path_of("fired"), name), count, "how often it fired");
            }
        }
        const auto* order = reader.find("order");
        if (order != nullptr && !order->is_list()) {
            reader.expect("order", "a list of functions or tasks");
        }
        for (const auto& name :
             order != nullptr && order->is_list() ? order->as_list() : std::span<const Value>{}) {
            expected.order.push_back(name.is_string() ? std::string{name.as_string()} : "");
        }
    }

    std::vector<ExpectedCalls> read_calls(const FormReader& reader, std::string_view section,
                                          const char* what) {
        auto all = std::vector<ExpectedCalls>{};
        for (const auto& [name, form] : members(reader, section)) {
            auto calls = ExpectedCalls{.name = name, .count = {}, .inputs = {}};
            auto path = join_path(reader.path_of(section), name);
            if (auto count = trigger::as_count(form)) {
                calls.count = *count;
            } else if (form.is_map()) {
                auto inner = FormReader{form, path, problems_, {"count", what}};
                calls.count = inner.count("count", 0, INT64_MAX);
                if (const auto* inputs = inner.find(what)) {
                    calls.inputs = *inputs;
                }
                if (calls.inputs && !calls.inputs->is_list()) {
                    inner.expect(what, fmt::format("a list of {}, in their order", what));
                }
            } else {
                report(path, form,
                       fmt::format("how many {}, or a map of count and {}",
                                   section == "sent" ? "events" : section, what));
            }
            all.push_back(std::move(calls));
        }
        return all;
    }

    void read_duration(const FormReader& reader, Expected& expected) {
        const auto* form = reader.find("duration");
        if (form == nullptr) {
            return;
        }
        if (!form->is_map()) {
            expected.duration = reader.duration("duration");
            return;
        }
        auto inner =
            FormReader{*form, reader.path_of("duration"), problems_, {"at_least", "at_most"}};
        expected.at_least = inner.duration("at_least");
        expected.at_most = inner.duration("at_most");
    }

    static std::vector<std::pair<std::string, Value>> members(const FormReader& reader,
                                                              std::string_view name) {
        auto found = std::vector<std::pair<std::string, Value>>{};
        auto map = reader.map(name);
        if (map.is_map()) {
            for (const auto& [key, member] : map.as_map()) {
                found.emplace_back(key, member);
            }
        }
        return found;
    }

    void report(const std::string& path, const Value& found, std::string_view expected) {
        trigger::report(problems_, path,
                        fmt::format("found {}, expected {}", describe(found), expected));
    }

    const Value& form_;
    Problems& problems_;
    FormReader reader_;
};

TestFile read_file(const Value& form, Problems& problems) {
    auto read = TestFile{};
    auto reader = FormReader{form, "", problems, {"definition", "functions", "tasks", "cases"}};
    if (!form.is_map()) {
        return read;
    }
    const auto* definition = reader.find("definition");
    if (definition != nullptr && definition->is_string() && definition->size() > 0) {
        read.definition = definition->as_string();
    } else {
        reader.expect("definition", "the path of the definition, from the folder of this file");
    }
    auto replies_in = [&](std::string_view name) {
        const auto* section = reader.find(name);
        return section == nullptr ? Replies{}
                                  : internal::read_replies(*section, std::string{name}, problems);
    };
    auto functions = replies_in("functions");
    auto tasks = replies_in("tasks");
    const auto* cases = reader.find("cases");
    if (cases == nullptr || !cases->is_list() || cases->size() == 0 || cases->size() > cases_max) {
        reader.expect("cases", fmt::format("a list of 1 to {} cases", cases_max));
        return read;
    }
    auto names = std::set<std::string>{};
    for (auto at = std::size_t{0}; at < cases->size(); ++at) {
        auto path = join_path("cases", at);
        read.cases.push_back(
            CaseReader{cases->as_list()[at], path, problems}.read(functions, tasks));
        const auto& name = read.cases.back().name;
        if (!name.empty() && !names.insert(name).second) {
            trigger::report(problems, join_path(path, "name"),
                            fmt::format("found {} again, expected names that differ",
                                        trigger::in_quotes(name)));
        }
    }
    return read;
}

} // namespace

std::expected<TestFile, std::vector<workflow::raw::Finding>> parse_tests(std::string_view text,
                                                                         std::string_view file) {
    auto document = workflow::raw::parse(text, file);
    if (!document) {
        return std::unexpected(std::move(document.error()));
    }
    auto problems = Problems{};
    auto read = read_file(document->form, problems);
    if (!problems.empty()) {
        return std::unexpected(workflow::raw::locate(*document, std::move(problems)));
    }
    return read;
}

} // namespace sluice::trial

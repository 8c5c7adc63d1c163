#include "workflow/raw/internal/function_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/clock.h"
#include "value/json.h"
#include "value/time_text.h"
#include "workflow/raw/internal/limits_reader.h"

namespace sluice::workflow::raw {

namespace {

constexpr auto builtins = std::array<std::string_view, 5>{"echo", "fail", "flaky", "noop", "sleep"};

} // namespace

bool is_builtin(std::string_view function) {
    return std::ranges::find(builtins, function) != builtins.end();
}

namespace internal {

namespace {

using Problems = std::vector<trigger::Problem>;

constexpr auto shown_bytes_max = std::size_t{60};
constexpr auto name_bytes_max = std::size_t{200};
constexpr auto count_max = std::int64_t{1'000'000};

/// A map of the section, read member by member; what is wrong becomes a problem.
class Reader {
public:
    Reader(const Value& form, std::string path, std::initializer_list<std::string_view> known,
           Problems& problems)
        : form_(form), path_(std::move(path)), problems_(problems) {
        if (!form.is_map()) {
            problems_.push_back({path_, fmt::format("found {}, expected a map", describe(form))});
            return;
        }
        for (const auto& member : form.as_map()) {
            if (std::ranges::find(known, member.key) == known.end()) {
                report(member.key,
                       fmt::format("unknown member, expected one of {}", fmt::join(known, ", ")));
            }
        }
    }

    const Value* find(std::string_view name) const {
        const auto* member = form_.find(name);
        return member == nullptr || member->is_null() ? nullptr : member;
    }
    std::string path_of(std::string_view name) const {
        return name.empty() ? path_ : fmt::format("{}/{}", path_, name);
    }
    void report(std::string_view name, std::string message) const {
        problems_.push_back({path_of(name), std::move(message)});
    }
    void expect(std::string_view name, std::string_view expected) const {
        const auto* member = find(name);
        report(name, fmt::format("found {}, expected {}", describe(member ? *member : Value{}),
                                 expected));
    }

    std::string text(std::string_view name) const {
        const auto* member = find(name);
        if (member != nullptr && (!member->is_string() || member->size() == 0)) {
            expect(name, "a text");
            return {};
        }
        return member == nullptr ? std::string{} : std::string{member->as_string()};
    }
    std::uint32_t count(std::string_view name) const {
        const auto* member = find(name);
        if (member == nullptr) {
            return 0;
        }
        if (!member->is_int() || member->as_int() < 1 || member->as_int() > count_max) {
            expect(name, fmt::format("an integer from 1 to {}", count_max));
            return 0;
        }
        return static_cast<std::uint32_t>(member->as_int());
    }
    void check_number(std::string_view name, double min, double max) const {
        const auto* member = find(name);
        if (member == nullptr) {
            return;
        }
        auto number = member->is_double() ? member->as_double()
                      : member->is_int()  ? static_cast<double>(member->as_int())
                                          : std::nan("");
        if (!(number >= min && number <= max)) {
            expect(name, fmt::format("a number from {} to {}", min, max));
        }
    }
    void check_duration(std::string_view name) const {
        const auto* member = find(name);
        if (member == nullptr) {
            return;
        }
        auto is_text = member->is_string() &&
                       value::parse_duration(member->as_string()).value_or(Nanos{-1}) >= Nanos{0};
        auto is_seconds = (member->is_int() && member->as_int() >= 0) ||
                          (member->is_double() && member->as_double() >= 0);
        if (!is_text && !is_seconds) {
            expect(name, "a duration such as \"30s\", or a number of seconds");
        }
    }

private:
    const Value& form_;
    std::string path_;
    Problems& problems_;
};

std::vector<std::string> read_command(const Reader& reader) {
    const auto* form = reader.find("command");
    if (form == nullptr) {
        return {};
    }
    if (form->is_string() && form->size() > 0) {
        return {"sh", "-c", std::string{form->as_string()}};
    }
    auto argv = std::vector<std::string>{};
    auto is_argv = form->is_list() && form->size() > 0 &&
                   std::ranges::all_of(form->as_list(), &Value::is_string) &&
                   form->as_list()[0].size() > 0;
    if (!is_argv) {
        reader.expect("command", "a text for the shell, or a list of texts");
        return {};
    }
    for (const auto& argument : form->as_list()) {
        argv.emplace_back(argument.as_string());
    }
    return argv;
}

std::optional<std::string> environment_text(const Value& value) {
    if (value.is_string()) {
        return std::string{value.as_string()};
    }
    return value.is_bool() || value.is_number() ? std::optional{value::to_json(value)}
                                                : std::nullopt;
}

void read_environment(const Reader& reader, FunctionForm& function) {
    const auto* form = reader.find("env");
    if (form == nullptr) {
        return;
    }
    if (!form->is_map()) {
        reader.expect("env", "a map of names to texts");
        return;
    }
    for (const auto& [name, value] : form->as_map()) {
        auto text = environment_text(value);
        if (name.empty() || name.contains('=') || !text) {
            reader.report("env/" + name, fmt::format("found {}, expected a name without '=' and "
                                                     "a text, a number, true or false",
                                                     describe(value)));
            continue;
        }
        function.environment.emplace_back(name, *std::move(text));
    }
}

void check_retry(const Reader& outer, Problems& problems) {
    const auto* form = outer.find("retry");
    if (form == nullptr) {
        return;
    }
    auto reader = Reader{*form,
                         outer.path_of("retry"),
                         {"attempts", "interval", "backoff", "max_delay", "jitter", "on"},
                         problems};
    reader.count("attempts");
    reader.check_duration("interval");
    reader.check_duration("max_delay");
    reader.check_number("backoff", 1, 1000);
    reader.check_number("jitter", 0, 1);
    const auto* kinds = reader.find("on");
    if (kinds != nullptr &&
        (!kinds->is_list() || !std::ranges::all_of(kinds->as_list(), &Value::is_string))) {
        reader.expect("on", "a list of error kinds");
    }
}

Value read_policy(const Reader& reader, Problems& problems) {
    reader.check_duration("timeout");
    check_retry(reader, problems);
    auto members = std::vector<value::Member>{};
    for (auto name : {"timeout", "retry"}) {
        if (const auto* member = reader.find(name)) {
            members.push_back({name, *member});
        }
    }
    return members.empty() ? Value{} : Value::map(std::move(members));
}

/// Nothing when it is written and is none.
std::optional<FunctionKind> read_kind(const Reader& reader) {
    const auto* kind = reader.find("kind");
    if (kind == nullptr) {
        return reader.find("command") != nullptr ? FunctionKind::Process : FunctionKind::Builtin;
    }
    if (*kind == Value{"process"}) {
        return FunctionKind::Process;
    }
    if (*kind == Value{"builtin"}) {
        return FunctionKind::Builtin;
    }
    reader.expect("kind", "builtin or process");
    return std::nullopt;
}

void check_members_of_kind(const Reader& reader, const FunctionForm& function) {
    auto refuse = [&](std::string_view name, std::string_view kind) {
        if (reader.find(name) != nullptr) {
            reader.report(name, fmt::format("a {} function has no {}", kind, name));
        }
    };
    if (function.kind == FunctionKind::Process) {
        refuse("builtin", "process");
        if (reader.find("command") == nullptr) {
            reader.expect("command", "a text for the shell, or a list of texts");
        }
        return;
    }
    refuse("command", "builtin");
    refuse("env", "builtin");
    refuse("cwd", "builtin");
    auto expected = fmt::format("one of {}", fmt::join(builtins, ", "));
    if (!is_builtin(function.builtin) && reader.find("builtin") != nullptr) {
        reader.expect("builtin", expected);
    } else if (!is_builtin(function.builtin)) {
        reader.report("", fmt::format("found neither command nor builtin, expected a command, or "
                                      "builtin with {}",
                                      expected));
    }
}

FunctionForm read_function(const std::string& name, const Value& form, const std::string& path,
                           Problems& problems) {
    auto function = FunctionForm{.name = name};
    const auto nothing = Value::map({});
    auto reader = Reader{form.is_null() ? nothing : form,
                         path,
                         {"kind", "command", "builtin", "env", "cwd", "timeout", "retry",
                          "concurrency", "rate", "burst", "priority", "per_key", "pool", "limits"},
                         problems};
    if (!form.is_map() && !form.is_null()) {
        return function;
    }
    auto kind = read_kind(reader);
    function.kind = kind.value_or(function.kind);
    function.argv = read_command(reader);
    function.builtin = reader.text("builtin");
    if (function.builtin.empty() && function.kind == FunctionKind::Builtin) {
        function.builtin = name;
    }
    read_environment(reader, function);
    function.directory = reader.text("cwd");
    function.policy = read_policy(reader, problems);
    function.concurrency = reader.count("concurrency");
    if (kind) {
        check_members_of_kind(reader, function);
        read_limits(form, path, function, problems);
    }
    return function;
}

} // namespace

std::string describe(const Value& found) {
    switch (found.kind()) {
        case value::Kind::Null: return "nothing";
        case value::Kind::List: return "a list";
        case value::Kind::Map: return "a map";
        case value::Kind::String: break;
        default: return value::to_json(found);
    }
    if (found.size() > shown_bytes_max) {
        return fmt::format("a text of {} bytes", found.size());
    }
    auto text = std::string{"the text "};
    value::write_json_string(found.as_string(), text);
    return text;
}

std::vector<FunctionForm> read_functions(const Value& section, Problems& problems) {
    auto functions = std::vector<FunctionForm>{};
    if (section.is_null()) {
        return functions;
    }
    if (!section.is_map()) {
        problems.push_back({"functions", fmt::format("found {}, expected a map of names to "
                                                     "functions",
                                                     describe(section))});
        return functions;
    }
    for (const auto& [name, form] : section.as_map()) {
        auto path = "functions/" + name;
        if (name.empty() || name.size() > name_bytes_max) {
            problems.push_back({path, fmt::format("found a name of {} bytes, expected 1 to {}",
                                                  name.size(), name_bytes_max)});
        }
        functions.push_back(read_function(name, form, path, problems));
    }
    return functions;
}

} // namespace internal

} // namespace sluice::workflow::raw

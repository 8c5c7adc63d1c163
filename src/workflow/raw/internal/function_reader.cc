#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "value/json.h"
#include "workflow/raw/function_form.h"
#include "workflow/raw/internal/limits_reader.h"
#include "workflow/raw/internal/member_reader.h"

namespace sluice::workflow::raw {

namespace {

constexpr auto builtins = std::array<std::string_view, 5>{"echo", "fail", "flaky", "noop", "sleep"};

constexpr auto kind_names =
    std::array<std::string_view, 6>{"builtin", "process", "http", "poll", "pool", "broker"};

} // namespace

bool is_builtin(std::string_view function) {
    return std::ranges::find(builtins, function) != builtins.end();
}

std::string_view to_string(FunctionKind kind) {
    return kind_names[static_cast<std::size_t>(kind)];
}

std::expected<FunctionForm, std::vector<trigger::Problem>> read_function(const std::string& name,
                                                                         const Value& form) {
    auto problems = std::vector<trigger::Problem>{};
    auto functions = read_functions(Value::map({{name, form}}), problems);
    if (!problems.empty()) {
        return std::unexpected(std::move(problems));
    }
    return std::move(functions.front());
}

namespace internal {

namespace {

constexpr auto name_bytes_max = std::size_t{200};

std::vector<std::string> read_command(const MemberReader& reader) {
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

void read_environment(const MemberReader& reader, FunctionForm& function) {
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

void check_retry(const MemberReader& outer, Problems& problems) {
    const auto* form = outer.find("retry");
    if (form == nullptr) {
        return;
    }
    auto reader = MemberReader{*form,
                               outer.path_of("retry"),
                               {"attempts", "interval", "backoff", "max_delay", "jitter", "on"},
                               problems};
    reader.count("attempts");
    reader.duration("interval");
    reader.duration("max_delay");
    reader.check_number("backoff", 1, 1000);
    reader.check_number("jitter", 0, 1);
    const auto* kinds = reader.find("on");
    if (kinds != nullptr &&
        (!kinds->is_list() || !std::ranges::all_of(kinds->as_list(), &Value::is_string))) {
        reader.expect("on", "a list of error kinds");
    }
}

Value read_policy(const MemberReader& reader, Problems& problems) {
    reader.duration("timeout");
    check_retry(reader, problems);
    auto members = std::vector<value::Member>{};
    for (auto name : {"timeout", "retry"}) {
        if (const auto* member = reader.find(name)) {
            members.push_back({name, *member});
        }
    }
    return members.empty() ? Value{} : Value::map(std::move(members));
}

bool is_field_name(std::string_view name) {
    constexpr auto others = std::string_view{"!#$%&'*+-.^_`|~"};
    auto is_token = [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               others.contains(c);
    };
    return !name.empty() && std::ranges::all_of(name, is_token);
}

/// Those that say how the message is framed are not the author's.
bool is_framing(std::string name) {
    std::ranges::transform(name, name.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    return name == "host" || name == "content-length" || name == "transfer-encoding" ||
           name == "connection" || name == "upgrade" || name == "expect";
}

void read_headers(const MemberReader& reader, FunctionForm& function) {
    const auto* form = reader.find("headers");
    if (form == nullptr) {
        return;
    }
    if (!form->is_map()) {
        reader.expect("headers", "a map of header fields to texts");
        return;
    }
    auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
    for (const auto& [name, value] : form->as_map()) {
        auto is_fit = is_field_name(name) && !is_framing(name) && value.is_string() &&
                      std::ranges::none_of(value.as_string(), is_control);
        if (!is_fit) {
            reader.report("headers/" + name,
                          "expected a header field that does not frame the message, and a text on "
                          "one line");
            continue;
        }
        function.headers.emplace_back(name, value.as_string());
    }
}

void read_http(const MemberReader& reader, FunctionForm& function) {
    function.url = reader.text("url");
    if (function.kind == FunctionKind::Http && !function.url.starts_with("http://") &&
        !function.url.starts_with("https://")) {
        reader.expect("url", "an address such as https://example.org/resize");
    }
    read_headers(reader, function);
    auto format = reader.text("format");
    if (!format.empty() && format != "cloudevent" && format != "json") {
        reader.expect("format", "cloudevent or json");
    }
    function.is_plain_json = format == "json";
    const auto* is_private = reader.find("allow_private");
    if (is_private != nullptr && !is_private->is_bool()) {
        reader.expect("allow_private", "true or false");
    }
    function.is_private = is_private != nullptr && *is_private == Value{true};
}

/// Nothing when it is written and is none.
std::optional<FunctionKind> read_kind(const MemberReader& reader) {
    const auto* kind = reader.find("kind");
    if (kind == nullptr) {
        return reader.find("command") != nullptr ? FunctionKind::Process
               : reader.find("url") != nullptr   ? FunctionKind::Http
               : reader.find("slots") != nullptr ? FunctionKind::Pool
                                                 : FunctionKind::Builtin;
    }
    for (auto each : {FunctionKind::Builtin, FunctionKind::Process, FunctionKind::Http,
                      FunctionKind::Poll, FunctionKind::Pool}) {
        if (*kind == Value{to_string(each)}) {
            return each;
        }
    }
    reader.expect("kind", "broker, builtin, process, http, poll or pool");
    return std::nullopt;
}

void check_builtin(const MemberReader& reader, const FunctionForm& function) {
    auto expected = fmt::format("one of {}", fmt::join(builtins, ", "));
    if (!is_builtin(function.builtin) && reader.find("builtin") != nullptr) {
        reader.expect("builtin", expected);
    } else if (!is_builtin(function.builtin)) {
        reader.report("", fmt::format("found neither command nor builtin, expected a command, a "
                                      "url, kind: poll, or builtin with {}",
                                      expected));
    }
}

void check_members_of_kind(const MemberReader& reader, const FunctionForm& function) {
    using enum FunctionKind;
    struct Member {
        std::string_view name;
        std::initializer_list<FunctionKind> kinds;
    };
    for (const auto& [name, kinds] : {Member{"command", {Process}},
                                      {"env", {Process}},
                                      {"cwd", {Process}},
                                      {"builtin", {Builtin}},
                                      {"url", {Http}},
                                      {"headers", {Http}},
                                      {"format", {Http}},
                                      {"allow_private", {Http}},
                                      {"heartbeat", {Http, Poll}},
                                      {"offers", {Poll}},
                                      {"slots", {Pool}},
                                      {"timeout", {Builtin, Process, Http, Poll}},
                                      {"retry", {Builtin, Process, Http, Poll}},
                                      {"concurrency", {Builtin, Process, Http, Poll}},
                                      {"rate", {Builtin, Process, Http, Poll}},
                                      {"priority", {Builtin, Process, Http, Poll}},
                                      {"per_key", {Builtin, Process, Http, Poll}}}) {
        auto has = std::ranges::find(kinds, function.kind) != kinds.end();
        if (reader.find(name) != nullptr && !has) {
            reader.report(
                name, function.kind == Pool
                          ? fmt::format("a pool has slots, and no {}", name)
                          : fmt::format("a {} function has no {}", to_string(function.kind), name));
        }
    }
    if (function.kind == Process && reader.find("command") == nullptr) {
        reader.expect("command", "a text for the shell, or a list of texts");
    } else if (function.kind == Builtin) {
        check_builtin(reader, function);
    } else if (function.kind == Pool && reader.find("slots") == nullptr) {
        reader.expect("slots", "how many there are");
    }
}

bool is_of_broker(const Value& form) {
    const auto* kind = form.is_map() ? form.find("kind") : nullptr;
    return kind != nullptr && *kind == Value{to_string(FunctionKind::Broker)};
}

/// What every function has is read here; the rest only the broker understands.
FunctionForm read_broker(const std::string& name, const Value& form, const std::string& path,
                         Problems& problems) {
    auto function = FunctionForm{.name = name, .kind = FunctionKind::Broker, .broker = form};
    auto shared = std::vector<value::Member>{};
    for (auto member :
         {"kind", "timeout", "retry", "concurrency", "rate", "burst", "priority", "per_key"}) {
        if (const auto* found = form.find(member)) {
            shared.push_back({member, *found});
            function.broker = function.broker.without(member);
        }
    }
    const auto own = Value::map(std::move(shared));
    auto reader = MemberReader{
        own,
        path,
        {"kind", "timeout", "retry", "concurrency", "rate", "burst", "priority", "per_key"},
        problems};
    const auto* url = form.find("url");
    if (url == nullptr || !url->is_string() || url->size() == 0) {
        reader.report("url", "expected the broker's address, such as redis://host:6379");
    }
    function.policy = read_policy(reader, problems);
    function.concurrency = reader.count("concurrency");
    read_limits(own, path, function, problems);
    return function;
}

FunctionForm read_function(const std::string& name, const Value& form, const std::string& path,
                           Problems& problems) {
    if (is_of_broker(form)) {
        return read_broker(name, form, path, problems);
    }
    auto function = FunctionForm{.name = name};
    const auto nothing = Value::map({});
    auto reader = MemberReader{
        form.is_null() ? nothing : form,
        path,
        {"kind",   "command",       "builtin",   "env",     "cwd",     "url",    "headers",
         "format", "allow_private", "heartbeat", "offers",  "timeout", "retry",  "concurrency",
         "rate",   "burst",         "priority",  "per_key", "pool",    "limits", "slots"},
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
    read_http(reader, function);
    function.heartbeat = reader.duration("heartbeat");
    function.offers = reader.count("offers");
    function.policy = read_policy(reader, problems);
    function.concurrency = reader.count("concurrency");
    function.slots = reader.count("slots");
    if (kind) {
        check_members_of_kind(reader, function);
        read_limits(form, path, function, problems);
    }
    return function;
}

} // namespace

} // namespace internal

std::vector<FunctionForm> read_functions(const Value& section,
                                         std::vector<trigger::Problem>& problems) {
    auto functions = std::vector<FunctionForm>{};
    if (section.is_null()) {
        return functions;
    }
    if (!section.is_map()) {
        problems.push_back({"functions", fmt::format("found {}, expected a map of names to "
                                                     "functions",
                                                     internal::describe(section))});
        return functions;
    }
    for (const auto& [name, form] : section.as_map()) {
        auto path = "functions/" + name;
        if (name.empty() || name.size() > internal::name_bytes_max) {
            problems.push_back({path, fmt::format("found a name of {} bytes, expected 1 to {}",
                                                  name.size(), internal::name_bytes_max)});
        }
        functions.push_back(internal::read_function(name, form, path, problems));
    }
    return functions;
}

} // namespace sluice::workflow::raw

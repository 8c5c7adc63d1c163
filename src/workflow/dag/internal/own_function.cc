#include "workflow/dag/internal/own_function.h"

#include <span>
#include <utility>

#include <fmt/format.h>

#include "trigger/form_reader.h"
#include "workflow/dag/internal/operators.h"

namespace sluice::workflow::dag::internal {

namespace {

using trigger::describe;
using trigger::report;

/// As the section `functions` would declare it.
Value form_of_script(const Value& script) {
    if (script.is_string()) {
        return Value::object({{"command", script}});
    }
    const auto* with = script.find("with");
    const auto* run = script.find("run");
    auto command = std::vector<Value>{};
    if (with != nullptr && with->is_list()) {
        command.assign(with->as_list().begin(), with->as_list().end());
    } else if (with != nullptr) {
        command = {*with, Value{"-c"}};
    } else {
        command = {Value{"sh"}, Value{"-c"}};
    }
    command.push_back(run == nullptr ? Value{} : *run);
    return Value::object({{"command", Value::list(std::move(command))}});
}

Value form_of_request(const Value& http) {
    auto form = Value::object({{"kind", "http"}, {"format", "json"}});
    for (const auto* name : {"url", "headers"}) {
        if (const auto* member = http.find(name)) {
            form = form.with(name, *member);
        }
    }
    return form;
}

/// The name of a header that is no fixed text; empty: all are.
std::string changing_header(const Value& http) {
    const auto* headers = http.find("headers");
    for (const auto& [name, value] : headers != nullptr && headers->is_map()
                                         ? headers->as_map()
                                         : std::span<const value::Member>{}) {
        if (value.is_string() && value.as_string().contains("${")) {
            return std::string{name};
        }
    }
    return {};
}

/// What is wrong with a function is wrong with the task that brings it.
void check_function(const Value& form, const std::string& path, Problems& problems) {
    auto read = raw::read_function("own", form);
    if (read) {
        return;
    }
    for (auto& problem : read.error()) {
        auto slash = problem.path.rfind('/');
        auto member = slash == std::string::npos ? std::string{} : problem.path.substr(slash + 1);
        auto is_part = member == "url" || member == "headers";
        report(problems, is_part ? trigger::join_path(path, member) : path,
               std::move(problem.message));
    }
}

} // namespace

std::optional<raw::FunctionForm> function_of(std::string_view kind, const Value& task,
                                             const std::string& id) {
    if (kind != "script" && kind != "http") {
        return std::nullopt;
    }
    const auto& own = *task.find(kind);
    auto form = kind == "script" ? form_of_script(own) : form_of_request(own);
    auto read = raw::read_function(fmt::format("{}:{}", kind, id), form);
    if (!read) {
        return std::nullopt;
    }
    read->is_of_task = true;
    return *std::move(read);
}

Value as_call(std::string_view kind, const Value& task, const std::string& function) {
    auto call = task.without(kind).with("call", function);
    const auto* body = kind == "http" ? task.find("http")->find("body") : nullptr;
    return body == nullptr ? call : call.with("input", *body);
}

OperatorPtr make_script(const Value& task, const ExpressionSite& site, Problems& problems) {
    const auto& script = *task.find("script");
    if (script.is_map()) {
        trigger::FormReader{script, "script", problems, {"run", "with"}};
    }
    const auto* run = script.is_map() ? script.find("run") : &script;
    if (run == nullptr || !run->is_string() || run->size() == 0) {
        report(problems, script.is_map() ? "script/run" : "script",
               fmt::format("found {}, expected the text of a script",
                           describe(run == nullptr ? Value{} : *run)));
    } else {
        check_function(form_of_script(script), "script", problems);
    }
    return make_call(as_call("script", task, "script"), site, problems);
}

OperatorPtr make_http(const Value& task, const ExpressionSite& site, Problems& problems) {
    const auto& http = *task.find("http");
    trigger::FormReader{http, "http", problems, {"url", "headers", "body"}};
    if (!http.is_map()) {
        return nullptr;
    }
    const auto* url = http.find("url");
    if (url != nullptr && url->is_string() && url->as_string().contains("${")) {
        report(problems, "http/url",
               "found an expression, expected a fixed URL: what changes goes into the body");
    } else if (auto header = changing_header(http); !header.empty()) {
        report(problems, "http/headers/" + header,
               "found an expression, expected a fixed text: secrets are for functions that the "
               "operator sets up");
    } else {
        check_function(form_of_request(http), "http", problems);
    }
    return make_call(as_call("http", task, "http"), site, problems);
}

} // namespace sluice::workflow::dag::internal

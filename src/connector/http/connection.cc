#include "connector/http/connection.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "trigger/form_reader.h"
#include "value/json.h"
#include "value/wording.h"

namespace sluice::connector::http {

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;
using value::text_at;

std::string text_of(const Value& value) {
    return value.is_string() ? std::string{value.as_string()} : value::to_json(value);
}

Value value_at(const Value& map, std::string_view name) {
    const auto* found = map.find(name);
    return found == nullptr ? Value{} : *found;
}

Pairs pairs_of(const Value& map) {
    auto pairs = Pairs{};
    if (map.is_map()) {
        for (const auto& [name, value] : map.as_map()) {
            pairs.emplace_back(name, text_of(value));
        }
    }
    return pairs;
}

Connection read_connection(const std::string& name, const Value& form,
                           std::vector<trigger::Problem>& problems) {
    auto reader = trigger::FormReader{
        form,
        "connections/" + name,
        problems,
        {"headers", "query", "user", "password", "allow_private", "namespaces"}};
    auto connection = Connection{.name = name,
                                 .headers = pairs_of(reader.map("headers")),
                                 .query = pairs_of(reader.map("query")),
                                 .user = reader.text("user").value_or(""),
                                 .password = reader.text("password").value_or(""),
                                 .is_private = reader.boolean("allow_private").value_or(false)};
    if (const auto* spaces = reader.find("namespaces")) {
        for (const auto& each : spaces->is_list() ? spaces->as_list() : std::span<const Value>{}) {
            connection.namespaces.push_back(text_of(each));
        }
        if (connection.namespaces.empty()) {
            reader.expect("namespaces", "a list of names");
        }
    }
    return connection;
}

void add_query(std::string& target, const std::string& name, const std::string& value) {
    target += target.contains('?') ? '&' : '?';
    target += sluice::http::percent_encode(name) + "=" + sluice::http::percent_encode(value);
}

/// A list is one parameter for each of its items.
void add_query(std::string& target, const Value& parameters) {
    if (!parameters.is_map()) {
        return;
    }
    for (const auto& [name, value] : parameters.as_map()) {
        if (!value.is_list()) {
            add_query(target, std::string{name}, text_of(value));
            continue;
        }
        for (const auto& each : value.as_list()) {
            add_query(target, std::string{name}, text_of(each));
        }
    }
}

Result<sluice::http::Method> method_of(const Value& arguments) {
    using sluice::http::Method;
    auto name = text_at(arguments, "Method");
    for (auto method : {Method::Get, Method::Post, Method::Put, Method::Patch, Method::Delete,
                        Method::Head, Method::Options}) {
        if (name == to_string(method)) {
            return method;
        }
    }
    return fail(Errc::InvalidInput,
                "Method is \"{}\": expected GET, POST, PUT, PATCH, DELETE, HEAD or OPTIONS", name);
}

/// A form as browsers send it; lists as `ArrayFormat` says.
std::string form_text(const Value& body, std::string_view array_format) {
    auto text = std::string{"?"};
    for (const auto& [name, value] : body.as_map()) {
        if (!value.is_list()) {
            add_query(text, std::string{name}, text_of(value));
            continue;
        }
        auto joined = std::string{};
        auto index = 0;
        for (const auto& each : value.as_list()) {
            if (array_format == "COMMAS") {
                joined += (index++ == 0 ? "" : ",") + text_of(each);
                continue;
            }
            auto key = array_format == "REPEAT"     ? std::string{name}
                       : array_format == "BRACKETS" ? fmt::format("{}[]", name)
                                                    : fmt::format("{}[{}]", name, index);
            add_query(text, key, text_of(each));
            ++index;
        }
        if (array_format == "COMMAS") {
            add_query(text, std::string{name}, joined);
        }
    }
    return text.substr(std::min<std::size_t>(text.size(), text.starts_with("?&") ? 2 : 1));
}

void add_body(const Value& arguments, sluice::http::Request& request) {
    auto body = value_at(arguments, "RequestBody");
    if (body.is_null()) {
        return;
    }
    auto transform = value_at(arguments, "Transform");
    auto is_form = text_at(transform, "RequestBodyEncoding") == "URL_ENCODED" && body.is_map();
    auto options = value_at(transform, "RequestEncodingOptions");
    request.body = is_form ? form_text(body, text_at(options, "ArrayFormat")) : text_of(body);
    if (request.headers.find("Content-Type") == nullptr) {
        request.headers.add("Content-Type",
                            is_form ? "application/x-www-form-urlencoded" : "application/json");
    }
}

bool is_json(const sluice::http::Response& response) {
    const auto* type = response.headers.find("Content-Type");
    return type != nullptr && (type->contains("/json") || type->contains("+json"));
}

} // namespace

std::vector<Connection> read_connections(const Value& section,
                                         std::vector<trigger::Problem>& problems) {
    auto connections = std::vector<Connection>{};
    if (!section.is_map()) {
        trigger::report(problems, "connections", "expected connections by name");
        return connections;
    }
    for (const auto& [name, form] : section.as_map()) {
        connections.push_back(read_connection(std::string{name}, form, problems));
    }
    return connections;
}

std::string connection_named(const Value& arguments) {
    auto arn = text_at(value_at(arguments, "Authentication"), "ConnectionArn");
    arn = arn.empty() ? text_at(value_at(arguments, "InvocationConfig"), "ConnectionArn") : arn;
    constexpr auto mark = std::string_view{"connection/"};
    auto at = arn.find(mark);
    auto name = at == std::string::npos ? arn : arn.substr(at + mark.size());
    return name.substr(0, name.find('/'));
}

Result<Invocation> invocation_of(const Value& arguments, const Connection* connection) {
    auto made = Invocation{};
    made.url = TRY(sluice::http::parse_url(text_at(arguments, "ApiEndpoint")));
    made.request.method = TRY(method_of(arguments));
    add_query(made.url.target, value_at(arguments, "QueryParameters"));
    auto& headers = made.request.headers;
    headers.set("User-Agent", "Amazon|StepFunctions|HttpInvoke|us-east-1");
    for (const auto& [name, value] : pairs_of(value_at(arguments, "Headers"))) {
        headers.set(name, value);
    }
    add_body(arguments, made.request);
    // What the operator gave goes before what a workflow says.
    if (connection != nullptr) {
        for (const auto& [name, value] : connection->headers) {
            headers.set(name, value);
        }
        for (const auto& [name, value] : connection->query) {
            add_query(made.url.target, name, value);
        }
        if (!connection->user.empty()) {
            auto pair = fmt::format("{}:{}", connection->user, connection->password);
            headers.set("Authorization", "Basic " + base64_encode(pair));
        }
    }
    return made;
}

Value answer_view(const sluice::http::Response& response) {
    auto headers = Value::map({});
    for (const auto& [name, value] : response.headers.all()) {
        auto key = name;
        std::ranges::transform(key, key.begin(), [](char letter) {
            return letter >= 'A' && letter <= 'Z' ? char(letter - 'A' + 'a') : letter;
        });
        auto values = std::vector<Value>{};
        if (const auto* before = headers.find(key)) {
            values.assign(before->as_list().begin(), before->as_list().end());
        }
        values.emplace_back(value);
        headers = headers.with(key, Value::list(std::move(values)));
    }
    auto parsed = is_json(response) ? value::parse_json(response.body)
                                    : Result<Value>{fail(Errc::InvalidInput, "")};
    auto body = parsed ? *std::move(parsed) : Value{replace_invalid_utf8(response.body)};
    return Value::object({{"Headers", headers},
                          {"ResponseBody", std::move(body)},
                          {"StatusCode", response.status},
                          {"StatusText", sluice::http::reason_of(response.status)}});
}

} // namespace sluice::connector::http

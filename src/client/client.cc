#include "client/client.h"

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "http/url.h"
#include "value/json.h"
#include "value/time_text.h"

namespace sluice::client {

namespace {

constexpr auto json_type = std::string_view{"application/json"};
constexpr auto wait_step = Nanos{std::chrono::seconds{30}};

Answer<Value> body_of(const http::Response& response) {
    if (response.body.empty()) {
        return Value{};
    }
    const auto* type = response.headers.find("Content-Type");
    if (type != nullptr && type->find("json") == std::string::npos) {
        return Value{response.body};
    }
    return TRY(value::parse_json(response.body, {.bytes_max = response.body.size()}));
}

Value to_value(const StartRequest& request) {
    auto body = Value::object({{"id", request.id}, {"definition", request.definition}});
    body = request.input ? body.with("input", *request.input) : body;
    if (request.priority != 0) {
        body = body.with("priority", request.priority);
    }
    return request.labels.is_null() ? body : body.with("labels", request.labels);
}

Query query_of(const RunFilter& filter) {
    auto query = Query{{"limit", fmt::format("{}", filter.page)}};
    for (const auto& [name, text] : {std::pair{"status", &filter.status},
                                     {"definition", &filter.definition},
                                     {"label", &filter.label},
                                     {"started_after", &filter.started_after},
                                     {"started_before", &filter.started_before},
                                     {"ended_after", &filter.ended_after},
                                     {"ended_before", &filter.ended_before}}) {
        if (!text->empty()) {
            query.emplace_back(name, *text);
        }
    }
    if (filter.is_standing) {
        query.emplace_back("standing", "true");
    }
    return query;
}

} // namespace

std::string path_of(std::initializer_list<std::string_view> segments) {
    auto path = std::string{};
    for (auto segment : segments) {
        path += '/';
        path += http::percent_encode(segment);
    }
    return path;
}

Result<Client> Client::connect(const SocketOptions& socket, ClientOptions options) {
    return Client{TRY(open_socket_transport(socket)), std::move(options)};
}

Client::Client(std::unique_ptr<Transport> transport, ClientOptions options)
    : transport_(std::move(transport)),
      options_(std::move(options)),
      seed_(
          static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count())) {
    if (!options_.pause) {
        options_.pause = [](Nanos pause) { std::this_thread::sleep_for(pause); };
    }
}

Answer<Value> Client::get(std::string_view path, const Query& query) {
    return ask(http::Method::Get, path, query, {}, Repeat::Safe, options_.timeout);
}

Answer<std::string> Client::fetch(std::string_view path, const Query& query) {
    auto request = request_of(http::Method::Get, path, query, {});
    return TRY(exchange(request, Repeat::Safe, options_.timeout)).body;
}

Answer<Value> Client::post(std::string_view path, const Value& body, const Query& query,
                           Repeat repeat) {
    auto content =
        body.is_null() ? Content{} : Content{std::string{json_type}, value::to_json(body)};
    return ask(http::Method::Post, path, query, std::move(content), repeat, options_.timeout);
}

Answer<Value> Client::put(std::string_view path, const Value& body, const Query& query) {
    return ask(http::Method::Put, path, query, {std::string{json_type}, value::to_json(body)},
               Repeat::Safe, options_.timeout);
}

Answer<Value> Client::patch(std::string_view path, const Value& body) {
    return ask(http::Method::Patch, path, {}, {std::string{json_type}, value::to_json(body)},
               Repeat::Unsafe, options_.timeout);
}

Answer<Value> Client::remove(std::string_view path, const Query& query) {
    return ask(http::Method::Delete, path, query, {}, Repeat::Safe, options_.timeout);
}

Listing Client::list(std::string path, std::string member, Query query) {
    auto fetch = [this, path = std::move(path), query = std::move(query)](const auto& cursor) {
        auto with_cursor = query;
        if (!cursor.empty()) {
            with_cursor.emplace_back("cursor", cursor);
        }
        return get(path, with_cursor);
    };
    return {std::move(fetch), std::move(member)};
}

Answer<Value> Client::deploy(std::string_view source) {
    return ask(http::Method::Post, "/v1/definitions", {}, {"text/plain", std::string{source}},
               Repeat::Safe, options_.timeout);
}

Answer<Value> Client::start(const StartRequest& request) {
    return post("/v1/runs", to_value(request), {}, Repeat::Safe);
}

Answer<Value> Client::start_and_wait(const StartRequest& request, std::optional<Nanos> at_most) {
    auto content = Content{std::string{json_type}, value::to_json(to_value(request))};
    // In steps: what lies between may cut a connection on which nothing happens.
    for (auto left = at_most;;) {
        auto wait = left ? std::min(*left, wait_step) : wait_step;
        auto told = TRY(ask(http::Method::Post, "/v1/runs",
                            {{"wait", value::format_duration(wait)}}, content, Repeat::Safe,
                            options_.timeout == Nanos{0} ? Nanos{0} : options_.timeout + wait));
        const auto* status = told.find("status");
        left = left ? std::optional{*left - wait} : left;
        auto is_running =
            status != nullptr && (*status == Value{"running"} || *status == Value{"queued"});
        if (!is_running || (left && *left <= Nanos{0})) {
            return told;
        }
    }
}

Listing Client::runs(const RunFilter& filter) {
    return list("/v1/runs", "runs", query_of(filter));
}

Answer<Value> Client::page_of_runs(const RunFilter& filter, const std::string& cursor) {
    auto query = query_of(filter);
    if (!cursor.empty()) {
        query.emplace_back("cursor", cursor);
    }
    return get("/v1/runs", query);
}

Answer<Value> Client::change_runs(std::string_view name, const RunFilter& filter, Query more) {
    auto query = query_of(filter);
    query.insert(query.end(), more.begin(), more.end());
    return post(path_of({"v1", "runs", name}), {}, query);
}

Answer<Value> Client::run(std::string_view id) {
    return get(path_of({"v1", "runs", id}));
}

Answer<Value> Client::command(std::string_view run, std::string_view name, const Value& body) {
    return post(path_of({"v1", "runs", run, name}), body);
}

Answer<Value> Client::ask(http::Method method, std::string_view path, const Query& query,
                          Content content, Repeat repeat, Nanos timeout) {
    auto request = request_of(method, path, query, std::move(content));
    return body_of(TRY(exchange(request, repeat, timeout)));
}

http::Request Client::request_of(http::Method method, std::string_view path, const Query& query,
                                 Content content) const {
    auto request = http::Request{.method = method, .target = std::string{path}};
    auto separator = '?';
    auto add = [&](std::string_view name, std::string_view text) {
        request.target += separator;
        request.target += http::percent_encode(name);
        request.target += '=';
        request.target += http::percent_encode(text);
        separator = '&';
    };
    if (!options_.space.empty()) {
        add("namespace", options_.space);
    }
    for (const auto& [name, text] : query) {
        add(name, text);
    }
    if (!options_.token.empty()) {
        request.headers.add("Authorization", "Bearer " + options_.token);
    }
    if (!content.type.empty()) {
        request.headers.add("Content-Type", std::move(content.type));
    }
    request.body = std::move(content.body);
    return request;
}

Answer<http::Response> Client::exchange(const http::Request& request, Repeat repeat,
                                        Nanos timeout) {
    auto retry = Retry{options_.retry, repeat, ++seed_};
    while (true) {
        auto response = transport_->request(request, timeout);
        if (auto pause = retry.pause_after(response)) {
            options_.pause(*pause);
            continue;
        }
        if (!response) {
            return std::unexpected(unreachable(response.error()));
        }
        if (response->status >= 300) {
            return std::unexpected(problem_of(*response));
        }
        return *std::move(response);
    }
}

Problem Client::unreachable(const Error& error) const {
    return Error{error.code, fmt::format("{}: {}", server(), error.message)};
}

} // namespace sluice::client

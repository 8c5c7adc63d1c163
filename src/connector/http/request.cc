#include "connector/http/request.h"

#include <fmt/format.h>

#include "event/builder.h"
#include "event/http_binding.h"
#include "http/url.h"
#include "value/json.h"

namespace sluice::connector::http {

namespace {

constexpr std::string_view call_type = "sluice.task.called";

/// The same however often it is delivered, so that a receiver knows it again by source and id too.
event::Event event_of(const event::Delivery& delivery) {
    auto source =
        fmt::format("/namespaces/{}/runs/{}", sluice::http::percent_encode(delivery.space),
                    sluice::http::percent_encode(delivery.run));
    return event::Builder{delivery.key, source, call_type}
        .subject(delivery.target)
        .run(delivery.run)
        .attribute("datacontenttype", "application/json")
        .data(delivery.payload)
        .build();
}

} // namespace

std::string field_text(std::string_view text) {
    auto encoded = std::string{};
    for (auto letter : text) {
        auto byte = static_cast<unsigned char>(letter);
        if (byte > 0x20 && byte < 0x7F && byte != '%') {
            encoded += letter;
        } else {
            fmt::format_to(std::back_inserter(encoded), "%{:02X}", byte);
        }
    }
    return encoded;
}

sluice::http::Request request_of(const Function& function, const event::Delivery& delivery,
                                 std::string_view callback_base) {
    auto request = sluice::http::Request{.method = sluice::http::Method::Post};
    auto& headers = request.headers;
    for (const auto& [name, value] : function.headers) {
        headers.add(name, value);
    }
    if (function.format == Format::CloudEvent) {
        auto message = event::to_http(event_of(delivery));
        for (auto& [name, value] : message.fields) {
            headers.set(name, std::move(value));
        }
        request.body = std::move(message.body);
    } else {
        headers.set("Content-Type", "application/json");
        request.body = value::to_json(delivery.payload);
    }
    headers.set("Idempotency-Key", field_text(delivery.key));
    headers.set("Sluice-Function", field_text(delivery.target));
    headers.set("Sluice-Run", field_text(delivery.run));
    headers.set("Sluice-Attempt", std::to_string(delivery.attempt));
    headers.set("Sluice-Token", delivery.token);
    if (!callback_base.empty()) {
        headers.set("Sluice-Callback",
                    fmt::format("{}/v1/tasks/{}", callback_base, delivery.token));
    }
    if (!delivery.trace.empty()) {
        headers.set("traceparent", field_text(delivery.trace));
    }
    return request;
}

} // namespace sluice::connector::http

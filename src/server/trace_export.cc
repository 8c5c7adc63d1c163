#include "server/trace_export.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "event/trace.h"
#include "reactor/thread.h"
#include "value/json.h"

namespace sluice::server {

namespace {

constexpr auto attribute_name = std::string_view{"traceparent"};
constexpr auto span_kind_client = 3;
constexpr auto span_kind_consumer = 5;
constexpr auto status_error = 2;

std::string nanos_text(Time time) {
    return std::to_string(time.time_since_epoch().count());
}

Value attribute(std::string_view name, std::string_view text) {
    return Value::object({{"key", name}, {"value", Value::object({{"stringValue", text}})}});
}

std::string_view member_text(const Value& event, std::string_view name) {
    const auto* found = event.find(name);
    return found != nullptr && found->is_string() ? found->as_string() : std::string_view{};
}

std::string event_key(const engine::RunName& run, trigger::EventNumber number) {
    return fmt::format("{}#{}", run.id, number.raw());
}

std::string task_key(const engine::RunName& run, std::uint64_t fire, std::uint64_t index) {
    return fmt::format("{}/{}/{}", run.id, fire, index);
}

struct Span {
    std::string key; ///< What its id stands for.
    std::string_view name;
    int kind = span_kind_consumer;
    Time from{};
    Time to{};
    bool is_error = false;
    std::vector<Value> attributes;
};

Value to_value(const event::Trace& trace, Span span) {
    auto status = span.is_error ? Value::object({{"code", status_error}}) : Value::map({});
    return Value::object({{"traceId", trace.id},
                          {"spanId", event::span_of(span.key)},
                          {"parentSpanId", trace.span},
                          {"name", span.name},
                          {"kind", span.kind},
                          {"startTimeUnixNano", nanos_text(span.from)},
                          {"endTimeUnixNano", nanos_text(span.to)},
                          {"attributes", Value::list(std::move(span.attributes))},
                          {"status", std::move(status)}});
}

} // namespace

TraceExport::TraceExport(TraceOptions options, observe::Metrics& metrics,
                         observe::Diagnostics& diagnostics)
    : options_(std::move(options)),
      sent_(metrics.counter("trace_spans_total")),
      dropped_(metrics.counter("trace_records_dropped_total")),
      diagnostics_(diagnostics),
      client_(http::Client::create()),
      mailbox_({.items_max = options_.records_max}),
      thread_(reactor::start_thread("traces", [this](std::stop_token) { run_thread(); })) {}

TraceExport::~TraceExport() {
    mailbox_.close();
}

void TraceExport::note(const engine::RunName& run, std::string_view record) {
    if (record.contains(attribute_name) &&
        !mailbox_.try_push({.run = run, .record = std::string{record}})) {
        dropped_.add();
    }
}

void TraceExport::run_thread() {
    auto mail = std::vector<Noted>{};
    auto wake = reactor::Wake::Mail;
    while (wake != reactor::Wake::Closed) {
        auto deadline =
            std::chrono::steady_clock::now() +
            std::chrono::duration_cast<std::chrono::steady_clock::duration>(options_.interval);
        do {
            wake = mailbox_.wait(deadline);
            mailbox_.pop_all(mail);
            for (const auto& noted : mail) {
                take(noted);
            }
        } while (wake == reactor::Wake::Mail && spans_.size() < options_.spans_max);
        send();
    }
}

void TraceExport::take(const Noted& noted) {
    auto entries = trigger::decode_record(noted.record);
    if (!entries) {
        dropped_.add();
        return;
    }
    for (const auto& entry : *entries) {
        take(noted.run, entry);
    }
}

void TraceExport::take(const engine::RunName& run, const trigger::Entry& entry) {
    if (entry.origin == trigger::Origin::Task) {
        end_call(run, entry);
    }
    note_calls(run, entry);
    auto event = value::parse_json(entry.json);
    auto trace = event ? event::parse_trace(member_text(*event, attribute_name)) : std::nullopt;
    if (!trace || !trace->is_sampled) {
        return;
    }
    spans_.push_back(to_value(
        *trace,
        {.key = event_key(run, entry.number),
         .name = member_text(*event, "type"),
         .from = entry.moment.time,
         .to = entry.moment.time,
         .is_error = entry.fate == trigger::Fate::Failed,
         .attributes = {attribute("sluice.namespace", run.space), attribute("sluice.run", run.id),
                        attribute("sluice.event", std::to_string(entry.number.raw())),
                        attribute("sluice.fate", to_string(entry.fate))}}));
}

void TraceExport::note_calls(const engine::RunName& run, const trigger::Entry& entry) {
    for (const auto& change : entry.changes) {
        const auto* opened = std::get_if<trigger::TaskOpened>(&change);
        const auto* trace = opened == nullptr ? nullptr : opened->task.policy.find(attribute_name);
        if (trace != nullptr && trace->is_string() && calls_.size() < options_.calls_max) {
            calls_.insert_or_assign(task_key(run, opened->key.fire.raw(), opened->key.index),
                                    Begun{.trace = std::string{trace->as_string()},
                                          .function = opened->task.target,
                                          .at = entry.moment.time});
        }
    }
}

void TraceExport::end_call(const engine::RunName& run, const trigger::Entry& entry) {
    auto key = task_key(run, entry.refs[0], entry.refs[1]);
    auto begun = calls_.find(key);
    if (begun == calls_.end() || entry.fate == trigger::Fate::Retried) {
        return;
    }
    auto call = std::move(begun->second);
    calls_.erase(begun);
    auto trace = event::parse_trace(call.trace);
    if (trace && trace->is_sampled) {
        spans_.push_back(
            to_value(*trace, {.key = key,
                              .name = call.function,
                              .kind = span_kind_client,
                              .from = call.at,
                              .to = entry.moment.time,
                              .is_error = entry.json.contains("sluice.task.failed"),
                              .attributes = {attribute("sluice.namespace", run.space),
                                             attribute("sluice.run", run.id),
                                             attribute("sluice.function", call.function)}}));
    }
}

void TraceExport::send() {
    if (spans_.empty()) {
        return;
    }
    auto count = spans_.size();
    auto resource =
        Value::object({{"attributes", Value::list({attribute("service.name", options_.service)})}});
    auto scope = Value::object({{"scope", Value::object({{"name", "sluice"}})},
                                {"spans", Value::list(std::exchange(spans_, {}))}});
    auto body = Value::object(
        {{"resourceSpans", Value::list({Value::object(
                               {{"resource", resource}, {"scopeSpans", Value::list({scope})}})})}});
    auto request = http::Request{.method = http::Method::Post,
                                 .target = options_.endpoint.target,
                                 .headers = options_.headers,
                                 .body = value::to_json(body)};
    request.headers.add("Content-Type", "application/json");
    auto answer = client_->request({.url = options_.endpoint,
                                    .request = std::move(request),
                                    .timeout = options_.timeout,
                                    .on_body = {}});
    auto is_taken = answer && answer->status < 300;
    if (is_taken) {
        sent_.add(count);
    } else if (is_reachable_) {
        diagnostics_.warn(
            "the trace collector took nothing",
            {{"why", answer ? fmt::format("status {}", answer->status) : answer.error().message}});
    }
    is_reachable_ = is_taken;
}

} // namespace sluice::server

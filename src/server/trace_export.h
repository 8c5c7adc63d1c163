#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/keys.h"
#include "http/client.h"
#include "observe/diagnostics.h"
#include "observe/metrics.h"
#include "reactor/mailbox.h"
#include "trigger/history.h"
#include "value/value.h"

namespace sluice::server {

struct TraceOptions {
    http::Url endpoint; ///< `http://collector:4318/v1/traces`
    http::Headers headers;
    std::string service = "sluice";
    std::size_t spans_max = 512;              ///< In a request.
    Nanos interval = std::chrono::seconds{1}; ///< Spans wait no longer.
    std::size_t records_max = 10'000;         ///< That wait; beyond, they are dropped.
    std::size_t calls_max = 100'000;          ///< Begun and not answered.
    Nanos timeout = std::chrono::seconds{10};
};

/// Tells an OpenTelemetry collector of events and calls that belong to a trace, by OTLP over HTTP
/// in JSON.
///
/// Made from what history says after it is durable, on a thread of its own: nothing waits for it,
/// and what it cannot keep up with is dropped and counted.
class TraceExport {
public:
    TraceExport(TraceOptions options, observe::Metrics& metrics, observe::Diagnostics& diagnostics);
    ~TraceExport();

    /// A run's history record. Cheap for one that belongs to no trace.
    void note(const engine::RunName& run, std::string_view record);

private:
    struct Noted {
        engine::RunName run;
        std::string record;
    };
    struct Begun {
        std::string trace;
        std::string function;
        Time at{};
    };

    void run_thread();
    void take(const Noted& noted);
    void take(const engine::RunName& run, const trigger::Entry& entry);
    void note_calls(const engine::RunName& run, const trigger::Entry& entry);
    void end_call(const engine::RunName& run, const trigger::Entry& entry);
    void send();

    TraceOptions options_;
    observe::Counter& sent_;
    observe::Counter& dropped_;
    observe::Diagnostics& diagnostics_;
    std::unique_ptr<http::Client> client_;
    std::map<std::string, Begun> calls_; ///< By idempotency key.
    std::vector<Value> spans_;
    bool is_reachable_ = true;
    reactor::Mailbox<Noted> mailbox_;
    std::jthread thread_;
};

} // namespace sluice::server

#include "server/trace_export.h"

#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "event/builder.h"
#include "event/trace.h"
#include "http/server.h"
#include "value/json.h"

namespace sluice::server {
namespace {

using ::testing::HasSubstr;

constexpr auto sampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
constexpr auto unsampled = "00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

event::Event traced_event(std::string_view type, std::string_view traceparent) {
    return event::Builder{"1", "/test", type}
        .run("r")
        .attribute("traceparent", traceparent)
        .build();
}

/// A collector, and an exporter that tells it.
class TraceExportTest : public ::testing::Test {
protected:
    TraceExportTest() {
        collector_ =
            http::Server::open(
                {},
                [this](http::Request request, const std::shared_ptr<http::Exchange>& reply) {
                    heard_.set_value(request.target + "\n" + request.body);
                    reply->answer({.status = 200});
                },
                diagnostics_)
                .value();
        export_ =
            std::make_unique<TraceExport>(TraceOptions{.endpoint = {.host = "127.0.0.1",
                                                                    .port = collector_->port(),
                                                                    .target = "/v1/traces"},
                                                       .interval = std::chrono::milliseconds{1}},
                                          metrics_, diagnostics_);
    }

    void note(const trigger::Arrival& arrival, const std::vector<trigger::Change>& changes = {}) {
        journal_.begin(trigger::EventNumber{++events_}, arrival, arrival.event.json());
        for (const auto& change : changes) {
            journal_.add(change);
        }
        journal_.end(trigger::Fate::Fired);
    }
    void flush(Time time) {
        export_->note({.id = "r"}, journal_.record({.time = time}));
        journal_.clear();
    }

    observe::NullDiagnostics diagnostics_;
    observe::Metrics metrics_;
    std::promise<std::string> heard_;
    trigger::Journal journal_;
    std::uint64_t events_ = 0;
    std::unique_ptr<http::Server> collector_;
    std::unique_ptr<TraceExport> export_;
};

TEST_F(TraceExportTest, TellsOfEventsAndCallsOfASampledTrace) {
    auto opened = trigger::TaskOpened{.key = {.fire = trigger::FireNumber{7}, .index = 2}};
    opened.task.target = "resize";
    opened.task.policy = Value::object({{"traceparent", sampled}});
    note({.event = traced_event("not.told", unsampled)});
    note({.event = traced_event("order.placed", sampled)}, {opened});
    note({.origin = trigger::Origin::Task,
          .event = traced_event("sluice.task.succeeded", sampled),
          .refs = {7, 2, 1, 0}});
    flush(Time{std::chrono::seconds{5}});

    auto heard = heard_.get_future().get();

    EXPECT_THAT(heard, ::testing::StartsWith("/v1/traces\n{\"resourceSpans\""));
    EXPECT_THAT(heard, HasSubstr(R"("traceId":"0af7651916cd43dd8448eb211c80319c")"));
    EXPECT_THAT(heard, HasSubstr(R"("parentSpanId":"b7ad6b7169203331","name":"order.placed")"));
    EXPECT_THAT(heard, HasSubstr(event::span_of("r#2")));
    EXPECT_THAT(heard, HasSubstr(R"("name":"resize","kind":3,"startTimeUnixNano":"5000000000")"));
    EXPECT_THAT(heard, HasSubstr(event::span_of("r/7/2")));
    EXPECT_THAT(heard, ::testing::Not(HasSubstr("not.told")));
}

} // namespace
} // namespace sluice::server

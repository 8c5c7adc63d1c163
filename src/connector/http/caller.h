#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "connector/http/function.h"
#include "event/sink.h"
#include "http/client.h"
#include "reactor/scheduler.h"

namespace sluice::connector::http {

struct CallerOptions {
    /// Where calls may go; empty: everywhere.
    sluice::http::AddressPolicy may_reach;
    std::size_t answer_bytes_max = std::size_t{4} << 20U;
    /// For a call without a timeout, until it is answered with a result or 202.
    Nanos answer_time_max = std::chrono::seconds{60};
    std::string ca_file; ///< Whom to trust; empty: whom the system trusts.
};

/// The calls of all functions of kind `http`, over connections they share.
///
/// Members may be called from any thread. Answers come on the client's thread or the scheduler's.
class Caller {
public:
    /// Clock and scheduler outlive it.
    Caller(const Clock& clock, reactor::Scheduler& scheduler, CallerOptions options);
    /// Stops.
    ~Caller();
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;

    /// Calls wait for this: before, an answer that comes later would not find us. `callback_base`
    /// is where this server is reached, such as `https://sluice.example`; empty: nowhere.
    void open(std::string callback_base);
    /// Answers what is under way with the kind `cancelled`, and so what comes after.
    void stop();

    void call(std::shared_ptr<const Function> function, event::Delivery delivery,
              event::Sink::Done done);
    void cancel(std::string_view token);
    bool heartbeat(std::string_view token);

private:
    class Calls;

    std::shared_ptr<Calls> calls_; // Shared with the scheduler's tasks: one may run meanwhile.
};

/// One function of kind `http`.
class Sink final : public event::Sink {
public:
    /// Gives the function for each call anew: what it refers to may change. An error is its answer.
    using Source = std::function<Result<Function>()>;

    Sink(std::shared_ptr<Caller> caller, Function function)
        : caller_(std::move(caller)),
          function_(std::make_shared<const Function>(std::move(function))) {}
    Sink(std::shared_ptr<Caller> caller, Source source)
        : caller_(std::move(caller)), source_(std::move(source)) {}

    void deliver(event::Delivery delivery, Done done) override;
    void cancel(std::string_view token) override { caller_->cancel(token); }
    bool heartbeat(std::string_view token, std::uint64_t /*lease*/) override {
        return caller_->heartbeat(token);
    }

private:
    std::shared_ptr<Caller> caller_;
    std::shared_ptr<const Function> function_; ///< Null: the source gives it.
    Source source_;
};

} // namespace sluice::connector::http

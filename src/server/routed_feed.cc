#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <utility>

#include "server/event_router.h"

namespace sluice::server {

namespace {

using event::Event;

constexpr auto quota_wait = std::chrono::milliseconds{100};

/// Sends the events of one source on their way.
class RoutedFeed {
public:
    RoutedFeed(engine::Engine& engine, const EventRouter& router, const Quotas* quotas,
               const std::string& space, const std::string& run, const std::stop_token& stop)
        : engine_(engine),
          router_(router),
          quotas_(quotas),
          space_(space),
          run_(run),
          stop_(stop) {}

    Result<std::vector<Event>> route(const Event& event) {
        TRY(wait_for_quota());
        auto routed = std::vector<Event>{};
        if (!run_.empty()) {
            auto named = TRY(with_run(codec_, event, run_));
            routed.push_back(std::move(named));
            return routed;
        }
        auto table = router_.table_of(space_);
        for (const auto& choice : EventRouter::choices(*table, event)) {
            if (!choice.run) {
                continue;
            }
            auto named = TRY(with_run(codec_, event, *choice.run));
            if (choice.route->start != EventRoute::Start::Never) {
                TRY(start(*choice.route, named));
            }
            auto is_same = [&](const Event& each) { return each.run() == *choice.run; };
            if (std::ranges::none_of(routed, is_same)) {
                routed.push_back(std::move(named));
            }
        }
        return routed;
    }

private:
    Result<void> wait_for_quota() {
        return wait_while(
            [&] { return quotas_ != nullptr && quotas_->refuse_events(space_, 1).has_value(); });
    }

    /// Its shard takes the start before the event, which comes by the same way. A start that fails
    /// leaves the event without a run, and so in quarantine. Where the shard may be elsewhere the
    /// event comes by another way, and waits.
    Result<void> start(const EventRoute& route, const Event& event) {
        auto ticket = Quotas::Ticket{};
        TRY(wait_while([&] {
            auto admitted = quotas_ == nullptr ? Quotas::Admission{} : quotas_->admit_start(space_);
            ticket = admitted ? *std::move(admitted) : nullptr;
            return !admitted.has_value();
        }));
        auto begun = std::make_shared<std::promise<Result<Value>>>();
        auto answer = begun->get_future();
        engine_.start({.space = space_,
                       .id = std::string{event.run()},
                       .definition = route.definition,
                       .input = route.input_of(event),
                       .labels = route.labels},
                      [begun, ticket = std::move(ticket)](Result<Value> started) {
                          begun->set_value(std::move(started));
                      });
        if (engine_.is_shared()) {
            auto started = answer.get();
            if (!started && started.error().code == Errc::Unavailable) {
                return std::unexpected(started.error());
            }
        }
        return {};
    }

    template <typename IsRefused>
    Result<void> wait_while(IsRefused is_refused) {
        while (is_refused()) {
            auto lock = std::unique_lock{mutex_};
            never_.wait_for(lock, stop_, quota_wait, [] { return false; });
            if (stop_.stop_requested()) {
                return fail(Errc::Unavailable, "the source was stopped while it waited for room");
            }
        }
        return {};
    }

    engine::Engine& engine_;
    const EventRouter& router_;
    const Quotas* quotas_;
    const std::string& space_;
    const std::string& run_;
    const std::stop_token& stop_;
    event::Codec codec_;
    std::mutex mutex_;
    std::condition_variable_any never_;
};

} // namespace

Result<std::uint64_t> EventRouter::feed(event::Source& source, const std::string& space,
                                        const std::string& run, const std::stop_token& stop) const {
    auto feed = RoutedFeed{engine_, *this, options_.quotas, space, run, stop};
    return engine_.feed(source,
                        {.space = space,
                         .route = [&](const Event& event) { return feed.route(event); },
                         .drops_unrouted = options_.accepts_unrouted},
                        stop);
}

} // namespace sluice::server

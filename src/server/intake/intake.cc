#include "server/intake/intake.h"

#include <utility>

#include "reactor/thread.h"
#include "server/intake/directory_source.h"
#include "server/intake/engine_actions.h"

namespace sluice::server::intake {

std::vector<std::string> Intake::kinds() {
    return {std::string{EventRouter::kind}, std::string{Sources::kind},
            std::string{SourceFeed::state_kind}, std::string{Schedules::kind},
            std::string{Schedules::state_kind}};
}

Result<std::unique_ptr<Intake>> Intake::open(engine::Engine& engine, Documents& documents,
                                             const Clock& clock, IntakeOptions options) {
    auto intake = std::unique_ptr<Intake>{new Intake};
    intake->router_ = TRY(EventRouter::open(
        engine, documents,
        {.accepts_unrouted = options.accepts_unrouted, .quotas = options.quotas}));
    auto sources = Sources::Kinds{};
    sources["directory"] = std::make_unique<DirectoryKind>(std::move(options.watch_roots));
    sources["s3"] = std::make_unique<S3Kind>();
    if (options.brokers) {
        sources["broker"] = std::make_unique<BrokerKind>(*std::move(options.brokers));
    }
    intake->sources_ =
        std::make_unique<Sources>(documents, *intake->router_, clock, std::move(sources));
    intake->actions_ = std::make_unique<EngineActions>(engine, *intake->router_, options.quotas);
    intake->schedules_ = TRY(Schedules::open(documents, clock, *intake->actions_,
                                             [self = intake.get()] { self->wake(); }));
    return intake;
}

Intake::~Intake() {
    if (sources_) {
        stop();
    }
}

void Intake::add_routes(RouteTable& routes, const Services& services) {
    add_router_routes(routes, services, *router_);
    add_source_routes(routes, services, *sources_);
    add_schedule_routes(routes, services, *schedules_);
    add_backfill_routes(routes, services, *schedules_);
    add_timer_routes(routes, services);
}

void Intake::start() {
    thread_ = reactor::start_thread("schedules",
                                    [this](const std::stop_token& stop) { keep_schedules(stop); });
    sources_->start();
}

void Intake::stop() {
    sources_->stop();
    if (thread_.joinable()) {
        thread_.request_stop();
        thread_.join();
    }
}

void Intake::keep_schedules(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        auto left = schedules_->step();
        auto lock = std::unique_lock{mutex_};
        changed_.wait_for(lock, stop, left, [this] { return is_awake_; });
        is_awake_ = false;
    }
}

void Intake::wake() {
    auto lock = std::lock_guard{mutex_};
    is_awake_ = true;
    changed_.notify_all();
}

} // namespace sluice::server::intake

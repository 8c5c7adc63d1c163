#pragma once

#include <string>

#include "engine/engine.h"
#include "server/event_router.h"
#include "server/intake/schedules.h"
#include "server/quotas.h"

namespace sluice::server::intake {

/// What schedules have done, by the engine, within quotas where there are any. All outlive it.
class EngineActions final : public ScheduleActions {
public:
    EngineActions(engine::Engine& engine, EventRouter& router, const Quotas* quotas)
        : engine_(engine), router_(router), quotas_(quotas) {}

    void start(const engine::StartRequest& request, Done done) override;
    void send(std::string space, event::Event event, Done done) override;
    void ask_running(const engine::RunName& run, std::move_only_function<void(bool)> done) override;

private:
    engine::Engine& engine_;
    EventRouter& router_;
    const Quotas* quotas_;
};

} // namespace sluice::server::intake

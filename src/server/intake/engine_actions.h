#pragma once

#include <string>

#include "engine/engine.h"
#include "server/event_router.h"
#include "server/intake/schedules.h"

namespace sluice::server::intake {

/// What schedules have done, by the engine. Both outlive it.
class EngineActions final : public ScheduleActions {
public:
    EngineActions(engine::Engine& engine, EventRouter& router) : engine_(engine), router_(router) {}

    void start(const engine::StartRequest& request, Done done) override;
    void send(std::string space, event::Event event, Done done) override;
    void ask_running(const engine::RunName& run, std::move_only_function<void(bool)> done) override;

private:
    engine::Engine& engine_;
    EventRouter& router_;
};

} // namespace sluice::server::intake

#include "server/intake/engine_actions.h"

#include <expected>
#include <utility>

namespace sluice::server::intake {

namespace {

/// The kind of error that a problem is.
Errc code_of(const Problem& problem) {
    switch (problem.status) {
        case 429:
        case 503: return Errc::Unavailable;
        case 507: return Errc::NoSpace;
        case 404: return Errc::NotFound;
        default: return problem.status >= 500 ? Errc::Internal : Errc::InvalidInput;
    }
}

} // namespace

void EngineActions::start(const engine::StartRequest& request, Done done) {
    auto ticket = quotas_ == nullptr ? std::expected<Quotas::Ticket, Problem>{}
                                     : quotas_->admit_start(request.space);
    if (!ticket) {
        done(fail(code_of(ticket.error()), "{}", ticket.error().detail));
        return;
    }
    engine_.start(request,
                  [done = std::move(done), ticket = *ticket](const Result<Value>& started) mutable {
                      done(started ? Result<void>{} : std::unexpected(started.error()));
                  });
}

void EngineActions::send(std::string space, event::Event event, Done done) {
    if (auto problem = router_.refuse_events(space, 1)) {
        done(fail(code_of(*problem), "{}", problem->detail));
        return;
    }
    router_.take(
        std::move(space), {std::move(event)}, [done = std::move(done)](const auto& routed) mutable {
            auto problems = routed ? problems_of(*routed)
                                   : std::vector{std::pair{std::size_t{0}, routed.error()}};
            if (problems.empty()) {
                done({});
            } else {
                const auto& problem = problems.front().second;
                done(fail(code_of(problem), "{}", problem.detail));
            }
        });
}

void EngineActions::ask_running(const engine::RunName& run,
                                std::move_only_function<void(bool)> done) {
    auto read = [](const trigger::RunState* state) -> Result<Value> {
        return Value{state != nullptr && !state->has_ended()};
    };
    engine_.query(run, read, [done = std::move(done)](const Result<Value>& is_running) mutable {
        done(is_running && is_running->is_bool() && is_running->as_bool());
    });
}

} // namespace sluice::server::intake

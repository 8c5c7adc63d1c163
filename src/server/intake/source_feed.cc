#include "server/intake/source_feed.h"

#include <future>
#include <memory>
#include <utility>

#include "value/wording.h"

namespace sluice::server::intake {

namespace {

std::optional<Problem> first_problem(const std::expected<Routed, Problem>& routed) {
    if (!routed) {
        return routed.error();
    }
    auto problems = problems_of(*routed);
    return problems.empty() ? std::nullopt : std::optional{problems.front().second};
}

} // namespace

SourceFeed::SourceFeed(std::string space, std::string name, std::string run, EventRouter& router,
                       Documents& documents, const Clock& clock)
    : space_(std::move(space)),
      name_(std::move(name)),
      run_(std::move(run)),
      router_(router),
      documents_(documents),
      clock_(clock) {}

void SourceFeed::deliver(std::vector<event::Event> events,
                         std::move_only_function<void(std::optional<Problem>)> done) {
    if (auto problem = router_.refuse_events(space_, events.size())) {
        note_error(problem->detail);
        done(std::move(problem));
        return;
    }
    if (!run_.empty()) {
        auto codec = event::Codec{};
        for (auto& event : events) {
            auto named = with_run(codec, event, run_);
            if (!named) {
                done(problem_of(named.error()));
                return;
            }
            event = *std::move(named);
        }
    }
    auto count = events.size();
    router_.take(
        space_, std::move(events),
        [self = shared_from_this(), count, done = std::move(done)](const auto& routed) mutable {
            auto problem = first_problem(routed);
            self->count(count, problem);
            done(std::move(problem));
        });
}

void SourceFeed::count(std::size_t events, const std::optional<Problem>& problem) {
    auto lock = std::lock_guard{mutex_};
    error_ = problem ? problem->detail : "";
    if (!problem) {
        events_ += events;
        last_event_ = clock_.wall();
    }
}

std::optional<Problem> SourceFeed::deliver_and_wait(event::Event event) {
    auto promise = std::make_shared<std::promise<std::optional<Problem>>>();
    auto answer = promise->get_future();
    deliver({std::move(event)},
            [promise](auto problem) { promise->set_value(std::move(problem)); });
    return answer.get();
}

Value SourceFeed::position() const {
    auto stored = documents_.find(state_kind, space_, name_);
    return stored ? stored->content : Value{};
}

Result<void> SourceFeed::keep_position(const Value& position) {
    return documents_.put(state_kind, {space_, name_, position});
}

void SourceFeed::note_error(std::string error) {
    auto lock = std::lock_guard{mutex_};
    error_ = std::move(error);
}

Result<std::uint64_t> SourceFeed::read_all(event::Source& source, const std::stop_token& stop) {
    return router_.feed(source, space_, run_, stop);
}

void SourceFeed::note_read(std::size_t events, std::optional<std::uint64_t> lag,
                           std::string trouble) {
    auto lock = std::lock_guard{mutex_};
    events_ += events;
    if (events > 0) {
        last_event_ = clock_.wall();
    }
    lag_ = lag;
    error_ = std::move(trouble);
}

Value SourceFeed::status() const {
    auto lock = std::lock_guard{mutex_};
    return Value::object({{"events", static_cast<std::int64_t>(events_)},
                          {"last_event", last_event_ ? Value{*last_event_} : Value{}},
                          {"lag", lag_ ? value::number(*lag_) : Value{}},
                          {"error", error_.empty() ? Value{} : Value{error_}}});
}

} // namespace sluice::server::intake

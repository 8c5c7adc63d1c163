#include "process.h"

#include <utility>

#include "engine/input.h"

namespace sluice::simulation {

Process::Process(store::testing::SimulatedStore& store, Timeline& timeline, Random& random,
                 ActionLog& log, Functions& functions, const ProcessOptions& options)
    : store_(store),
      timeline_(timeline),
      random_(random),
      log_(log),
      options_(options),
      catalog_(store, vocabulary_),
      dispatcher_({.shared = functions.declared(), .by_space = {}}, random.next(), secret,
                  {.clock = timeline,
                   .timers = no_timers_,
                   .answered = [this](engine::AnswerInput answer) { post(std::move(answer)); },
                   .reload = {}}) {
    for (auto at = std::size_t{0}; at < options.lanes; ++at) {
        engine::Committer& committer = *this;
        auto lane = std::make_unique<engine::Lane>(store_, committer, outputs(),
                                                   options.lane_limits, diagnostics_);
        auto* raw = lane.get();
        lane->set_return([raw](std::unique_ptr<engine::Commit> commit, Result<void> result) {
            raw->committed(std::move(commit), std::move(result));
        });
        places_.push_back({.lane = std::move(lane), .mail = {}});
    }
}

engine::LaneOutputs Process::outputs() {
    return {.dispatch = [this](auto calls) { dispatcher_.dispatch(std::move(calls)); },
            .cancel = [this](const auto& run, const auto& key) { dispatcher_.cancel(run, key); },
            .post = [this](engine::Input&& input) { post(std::move(input)); },
            .watch = {},
            .stop =
                [this](const Error& error) {
                    log_.add(timeline_.now(), "stops: {}", error.message);
                    has_stopped_ = true;
                }};
}

Result<void> Process::open() {
    auto ids = std::vector<ShardId>{};
    for (auto id = std::uint16_t{0}; id < store_.shard_count(); ++id) {
        ids.emplace_back(id);
    }
    auto states = TRY(store_.acquire(ids));
    for (auto at = std::size_t{0}; at < ids.size(); ++at) {
        auto services = engine::ShardServices{.store = store_,
                                              .catalog = catalog_,
                                              .clock = timeline_,
                                              .diagnostics = diagnostics_,
                                              .limits = options_.limits,
                                              .awake_runs_max = options_.awake_runs_max,
                                              .checkpoint_events = options_.checkpoint_events};
        auto shard = std::make_unique<engine::Shard>(ids[at], services);
        auto left = TRY(shard->open(states[at]));
        log_.add(timeline_.now(), "shard {} has {} messages and {} calls left", at,
                 left.messages.size(), left.calls.size());
        places_[at % places_.size()].lane->add(std::move(shard), std::move(left));
    }
    return {};
}

void Process::post(engine::Input&& input) {
    auto shard = engine::shard_of(input, store_.shard_count());
    places_[shard.raw() % places_.size()].mail.push_back(std::move(input));
}

bool Process::step() {
    auto choices = std::vector<std::size_t>{};
    for (auto at = std::size_t{0}; at < places_.size(); ++at) {
        auto next = places_[at].lane->until_next();
        if (!places_[at].mail.empty() || (next && *next <= Nanos{0})) {
            choices.push_back(at);
        }
    }
    auto lanes = places_.size();
    if (!to_commit_.empty()) {
        choices.push_back(lanes);
    }
    if (!to_return_.empty()) {
        choices.push_back(lanes + 1);
    }
    if (choices.empty()) {
        return false;
    }
    auto choice = choices[random_.below(choices.size())];
    if (choice == lanes) {
        commit_next();
    } else if (choice == lanes + 1) {
        return_next();
    } else {
        step_lane(choice);
    }
    return true;
}

void Process::step_lane(std::size_t at) {
    auto& place = places_[at];
    auto inputs = std::vector<engine::Input>{};
    auto count = random_.chance(0.5) ? place.mail.size() : random_.below(place.mail.size() + 1);
    for (auto taken = std::size_t{0}; taken < count; ++taken) {
        inputs.push_back(std::move(place.mail.front()));
        place.mail.pop_front();
    }
    auto did = place.lane->step(inputs);
    log_.add(timeline_.now(), "lane {} took {}, {}; in flight {}", at, count,
             did ? "commits" : "rests", place.lane->in_flight());
}

void Process::wake() {
    for (auto at = std::size_t{0}; at < places_.size(); ++at) {
        step_lane(at);
    }
}

void Process::submit(std::unique_ptr<engine::Commit> commit, Done done) {
    to_commit_.push_back({.commit = std::move(commit), .done = std::move(done), .result = {}});
}

Result<void> Process::commit_here(engine::Commit& commit) {
    return store_.commit(commit.finish());
}

void Process::commit_next() {
    auto work = std::move(to_commit_.front());
    to_commit_.pop_front();
    work.result = commit_here(*work.commit);
    log_.add(timeline_.now(), "commits {} bytes later: {}", work.commit->bytes(),
             work.result ? "well" : work.result.error().message);
    to_return_.push_back(std::move(work));
}

void Process::return_next() {
    auto work = std::move(to_return_.front());
    to_return_.pop_front();
    work.done(std::move(work.commit), std::move(work.result));
}

std::optional<Nanos> Process::until_next() {
    auto soonest = std::optional<Nanos>{};
    for (auto& place : places_) {
        if (auto next = place.lane->until_next()) {
            soonest = soonest ? std::min(*soonest, *next) : *next;
        }
    }
    return soonest;
}

} // namespace sluice::simulation

#include "trial/stage.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace sluice::trial {

Stage::Stage(const trigger::Vocabulary& vocabulary, reactor::VirtualTime& time, Cast& cast)
    : time_(time),
      cast_(cast),
      catalog_(store_, vocabulary),
      dispatcher_({}, 1, engine::Secret{},
                  {.clock = time,
                   .timers = time,
                   .answered = [this](engine::AnswerInput answer) { post(std::move(answer)); },
                   .reload = {},
                   .has_jitter = false}) {
    engine::Committer& committer = *this;
    lane_ = std::make_unique<engine::Lane>(
        store_, committer,
        engine::LaneOutputs{
            .dispatch = [this](auto calls) { dispatch(std::move(calls)); },
            .cancel = [this](const auto& run, const auto& key) { dispatcher_.cancel(run, key); },
            .post = [this](engine::Input&& input) { post(std::move(input)); },
            .watch = {},
            .stop = [this](const Error& error) { broken_ = error; }},
        engine::LaneLimits{}, diagnostics_);
    lane_->set_return([this](std::unique_ptr<engine::Commit> commit, Result<void> result) {
        lane_->committed(std::move(commit), std::move(result));
    });
}

Stage::~Stage() {
    dispatcher_.stop();
}

Result<void> Stage::open() {
    auto id = ShardId{0};
    auto states = TRY(store_.acquire(std::array{id}));
    auto shard =
        std::make_unique<engine::Shard>(id, engine::ShardServices{.store = store_,
                                                                  .catalog = catalog_,
                                                                  .clock = time_,
                                                                  .diagnostics = diagnostics_,
                                                                  .limits = {}});
    auto left = TRY(shard->open(states.front()));
    lane_->add(std::move(shard), std::move(left));
    return {};
}

Result<void> Stage::add(const std::vector<engine::Definition>& definitions) {
    for (const auto& definition : definitions) {
        TRY(catalog_.add(engine::RunName{}.space, definition));
    }
    return {};
}

Result<void> Stage::start(const std::string& run, const std::string& definition, Value input,
                          engine::Done done) {
    auto info = trigger::RunInfo{.definition = definition, .input = std::move(input)};
    info.set = TRY(catalog_.find(engine::RunName{}.space, definition));
    post(engine::StartInput{
        .run = {.id = run}, .info = std::move(info), .context = {}, .done = std::move(done)});
    return {};
}

void Stage::dispatch(std::vector<engine::Call> calls) {
    for (const auto& call : calls) {
        if (functions_.insert(call.task.target).second) {
            dispatcher_.set_function("", call.task.target, cast_.function(call.task.target));
        }
        cast_.note(call);
    }
    dispatcher_.dispatch(std::move(calls));
}

bool Stage::step() {
    if (broken_ || time_.step()) {
        return !broken_;
    }
    auto inputs = std::vector<engine::Input>{};
    std::ranges::move(std::exchange(mail_, {}), std::back_inserter(inputs));
    auto had_mail = !inputs.empty();
    return lane_->step(inputs) || had_mail;
}

std::optional<Nanos> Stage::until_next() {
    auto next = time_.until_next();
    auto of_lane = lane_->until_next();
    return next && of_lane ? std::min(*next, *of_lane) : next ? next : of_lane;
}

void Stage::submit(std::unique_ptr<engine::Commit> commit, Done done) {
    auto result = commit_here(*commit);
    done(std::move(commit), std::move(result));
}

} // namespace sluice::trial

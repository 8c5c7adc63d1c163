#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/catalog.h"
#include "engine/lane.h"
#include "event/builder.h"
#include "observe/testing/captured_diagnostics.h"
#include "store/testing/simulated_store.h"
#include "value/json.h"

namespace sluice::engine::testing {

/// One lane with all shards of a simulated store, without threads: commits are made at once, and
/// time stands still until it is advanced.
class SteppedLane final : private Committer {
public:
    explicit SteppedLane(std::uint16_t shard_count = 4)
        : store_(std::make_unique<store::testing::SimulatedStore>(
              store::testing::SimulatedStore::Options{.shard_count = shard_count})) {
        open();
    }

    /// Begins again with an empty store.
    void reset(store::Atomicity atomicity = store::Atomicity::Batch) {
        lane_.reset();
        mail_.clear();
        store_ = std::make_unique<store::testing::SimulatedStore>(
            store::testing::SimulatedStore::Options{.shard_count = store_->shard_count(),
                                                    .atomicity = atomicity});
        open();
    }

    /// As after the process was killed.
    void restart() {
        lane_.reset();
        mail_.clear();
        store_ = store_->crash(store::testing::Loss::Process);
        open();
    }

    void define(const std::string& form) {
        auto parsed = value::parse_json(form).value();
        auto name = std::string{parsed.find("name")->as_string()};
        hashes_[name] = catalog_->add("default", {.name = name, .form = std::move(parsed)}).value();
    }

    void start(const std::string& run, const std::string& definition, Value input = {}) {
        auto info = trigger::RunInfo{
            .definition = definition, .set = hashes_.at(definition), .input = std::move(input)};
        take(StartInput{.run = {.id = run}, .info = std::move(info)});
    }

    void post(Input&& input) { mail_.push_back(std::move(input)); }
    /// Posts it, and lets everything that follows happen.
    void take(Input&& input) {
        post(std::move(input));
        settle();
    }
    /// Lets time pass, and everything that is due happen.
    void advance(Nanos time) {
        clock_.now += time;
        settle();
    }
    /// Asked before nested runs begin; from the next shard that is opened on.
    AdmitNested admit_nested;
    void settle() {
        auto did = true;
        while (did || !mail_.empty()) {
            auto inputs = std::vector<Input>{};
            std::ranges::move(std::exchange(mail_, {}), std::back_inserter(inputs));
            did = lane_->step(inputs);
        }
    }

    ShardId shard_of_run(const std::string& run) const {
        return shard_of(RunName{.id = run}, store_->shard_count());
    }
    Lane& lane() { return *lane_; }
    store::testing::SimulatedStore& store() { return *store_; }
    observe::testing::CapturedDiagnostics& diagnostics() { return diagnostics_; }
    const trigger::Vocabulary& vocabulary() const { return vocabulary_; }
    const std::optional<Error>& stopped() const { return stopped_; }
    /// Why all shards were given up.
    const std::optional<Error>& lost() const { return lost_; }

private:
    class StillClock final : public Clock {
    public:
        Time wall() const override { return Time{std::chrono::hours{480'000}} + now; }
        Nanos steady() const override { return now; }

        Nanos now = std::chrono::seconds{1};
    };

    void open() {
        catalog_ = std::make_unique<Catalog>(*store_, vocabulary_);
        Committer& committer = *this;
        lane_ = std::make_unique<Lane>(
            *store_, committer,
            LaneOutputs{.dispatch = [](auto /*calls*/) {},
                        .cancel = [](const auto& /*run*/, const auto& /*key*/) {},
                        .post = [this](Input&& input) { mail_.push_back(std::move(input)); },
                        .watch = {},
                        .stop = [this](const Error& error) { stopped_ = error; },
                        .lost = [this](const Error& error) { lost_ = error; }},
            LaneLimits{}, diagnostics_);
        auto ids = std::vector<ShardId>{};
        for (auto id = std::uint16_t{0}; id < store_->shard_count(); ++id) {
            ids.emplace_back(id);
        }
        auto states = store_->acquire(ids).value();
        for (auto at = std::size_t{0}; at < ids.size(); ++at) {
            auto shard =
                std::make_unique<Shard>(ids[at], ShardServices{.store = *store_,
                                                               .catalog = *catalog_,
                                                               .clock = clock_,
                                                               .diagnostics = diagnostics_,
                                                               .limits = {},
                                                               .admit_nested = &admit_nested});
            auto left = shard->open(states[at]).value();
            lane_->add(std::move(shard), std::move(left));
        }
    }

    void submit(std::unique_ptr<Commit> commit, Done done) override {
        auto result = commit_here(*commit);
        done(std::move(commit), std::move(result));
    }
    Result<void> commit_here(Commit& commit) override { return store_->commit(commit.finish()); }

    trigger::Vocabulary vocabulary_;
    observe::testing::CapturedDiagnostics diagnostics_;
    StillClock clock_;
    std::unique_ptr<store::testing::SimulatedStore> store_;
    std::unique_ptr<Catalog> catalog_;
    std::map<std::string, std::string> hashes_;
    std::unique_ptr<Lane> lane_;
    std::deque<Input> mail_;
    std::optional<Error> stopped_;
    std::optional<Error> lost_;
};

} // namespace sluice::engine::testing

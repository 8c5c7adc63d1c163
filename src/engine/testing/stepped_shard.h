#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/invariant.h"
#include "engine/catalog.h"
#include "engine/inspector.h"
#include "engine/shard.h"
#include "event/builder.h"
#include "store/memory/memory_store.h"
#include "value/json.h"

namespace sluice::engine::testing {

/// A clock that stands still until it is told.
class StandingClock final : public Clock {
public:
    Nanos now{0};

    Time wall() const override { return Time{now}; }
    Nanos steady() const override { return now; }
};

/// One shard without a lane, committed by hand, in a store that outlives it.
class SteppedShard {
public:
    explicit SteppedShard(trigger::DecideLimits limits = {}) : limits_(limits) { open(); }

    /// As after a crash: what was not committed is gone.
    Release open() {
        auto ids = std::vector{ShardId{0}};
        auto state = store_.acquire(ids).value().front();
        shard_ =
            std::make_unique<Shard>(ShardId{0}, ShardServices{.store = store_,
                                                              .catalog = catalog_,
                                                              .clock = clock_,
                                                              .diagnostics = diagnostics_,
                                                              .limits = limits_,
                                                              .retention = std::chrono::hours{1}});
        return shard_->open(state).value();
    }

    void start(const std::string& run, const std::string& form) {
        auto added = catalog_.add("default", {.name = "t", .form = *value::parse_json(form)});
        INVARIANT(added.has_value(), "the definition is valid");
        take(StartInput{.run = {.id = run}, .info = {.definition = "t", .set = *added}});
    }

    void send(const std::string& run, const std::string& type) {
        auto event = event::Builder{std::to_string(++sent_), "test", type}.run(run).build();
        take(EventsInput{.space = "default", .events = {std::move(event)}});
    }

    void take(Input&& input) {
        INVARIANT(shard_->take(std::move(input)).has_value(), "the shard takes it");
    }

    Release commit() {
        auto commit = Commit{store_.make_batch()};
        auto release = shard_->write(commit);
        bytes_ = commit.bytes();
        INVARIANT(store_.commit(commit.finish()).has_value(), "the store takes it");
        shard_->confirm_synced(release.commit);
        return release;
    }

    std::unique_ptr<trigger::RunState> state(const std::string& run) {
        return Inspector{store_, vocabulary_}.run({.id = run}).value();
    }

    ReplayReport replayed(const std::string& run) {
        auto inspector = Inspector{store_, vocabulary_};
        return replay(inspector, {.id = run}, limits_).value();
    }

    std::vector<trigger::Entry> history(const std::string& run) {
        auto entries = std::vector<trigger::Entry>{};
        auto read =
            Inspector{store_, vocabulary_}.read_history({.id = run}, [&](const auto& entry) {
                entries.push_back(entry);
                return true;
            });
        INVARIANT(read.has_value(), "history can be read");
        return entries;
    }

    Shard& shard() { return *shard_; }
    StandingClock& clock() { return clock_; }
    store::Store& store() { return store_; }
    /// Of the last commit.
    std::size_t commit_bytes() const { return bytes_; }

private:
    trigger::DecideLimits limits_;
    store::memory::MemoryStore store_{1};
    trigger::Vocabulary vocabulary_;
    Catalog catalog_{store_, vocabulary_};
    StandingClock clock_;
    observe::NullDiagnostics diagnostics_;
    std::unique_ptr<Shard> shard_;
    std::size_t bytes_ = 0;
    int sent_ = 0;
};

} // namespace sluice::engine::testing

#include "world.h"

#include <algorithm>
#include <utility>

#include "engine/run_records.h"
#include "oracle.h"
#include "value/json.h"

namespace sluice::simulation {

namespace {

using store::testing::CrashPoint;
using store::testing::Loss;
using store::testing::SimulatedStore;

constexpr auto steps_max = std::uint64_t{100'000};

ProcessOptions draw_options(Random& random) {
    auto options = ProcessOptions{};
    options.lanes = 1 + random.below(3);
    if (random.chance(0.7)) {
        options.limits.own_events_per_turn_max = 1 + random.below(6);
        options.limits.slice_items_max = 1 + random.below(6);
    }
    // Small batches leave a backlog, so that one is decided while the last is being synced.
    options.lane_limits.batch_bytes_max = random.chance(0.5) ? 1 : 1'500'000;
    options.lane_limits.batches_in_flight_max = 1 + random.below(3);
    options.awake_runs_max = random.chance(0.5) ? 1 : 100;
    options.checkpoint_events = random.chance(0.5) ? 1 + random.below(20) : 10'000;
    return options;
}

std::unique_ptr<SimulatedStore> make_store(Random& random) {
    return std::make_unique<SimulatedStore>(SimulatedStore::Options{
        .seed = random.next(), .shard_count = static_cast<std::uint16_t>(1 + random.below(5))});
}

} // namespace

World::World(std::uint64_t seed, bool is_verbose)
    : random_(seed),
      log_(is_verbose),
      plans_(draw_plans(random_)),
      options_(draw_options(random_)),
      store_(make_store(random_)),
      functions_(timeline_, random_, log_,
                 [this](engine::AnswerInput answer) { process_->post(std::move(answer)); }),
      bus_(
          timeline_, random_, log_,
          [this](engine::Input&& input) { process_->post(std::move(input)); },
          [this]() -> const store::Store& { return *store_; }),
      clients_(
          plans_, store_->shard_count(), timeline_, random_, log_,
          [this](engine::Input&& input) {
              if (auto* start = std::get_if<engine::StartInput>(&input)) {
                  start->info.set =
                      process_->catalog().find("default", start->info.definition).value();
              }
              process_->post(std::move(input));
          },
          [this](const RunPlan& plan) { bus_.publish(plan); }),
      harms_left_(random_.below(15)) {}

void World::define() {
    auto vocabulary = make_vocabulary();
    auto catalog = engine::Catalog{*store_, vocabulary};
    for (const auto& text : definitions()) {
        auto form = value::parse_json(text).value();
        auto name = std::string{form.find("name")->as_string()};
        auto added = catalog.add("default", {.name = name, .form = std::move(form)});
        if (!added) {
            verdict_.problems.push_back(
                fmt::format("definition {}: {}", name, added.error().message));
        }
    }
}

Verdict World::run() {
    define();
    if (verdict_.problems.empty() && open_process() && settle()) {
        verdict_.problems =
            Oracle{*store_, plans_, clients_, functions_, bus_, options_.limits}.check();
    }
    if (verdict_.problems.empty()) {
        // What was quiet stays quiet: a restart finds nothing left to do, and changes no run.
        restart(random_.chance(0.5) ? Loss::Power : Loss::Process);
        if (settle()) {
            verdict_.problems =
                Oracle{*store_, plans_, clients_, functions_, bus_, options_.limits}.check();
        }
    }
    verdict_.hash = log_.hash();
    return std::move(verdict_);
}

bool World::settle() {
    while (step()) {
        if (++verdict_.steps > steps_max) {
            verdict_.problems.push_back(fmt::format("not quiet after {} steps", steps_max));
            return false;
        }
        if (!verdict_.problems.empty()) {
            return false;
        }
    }
    return true;
}

bool World::step() {
    timeline_.advance(std::chrono::microseconds{random_.below(200)});
    if (harms_left_ > 0 && random_.chance(0.03)) {
        --harms_left_;
        do_harm();
    }
    if (harms_left_ > 0 && random_.chance(0.05)) {
        read();
    }
    auto did = random_.chance(0.5) ? timeline_.step() || process_->step()
                                   : process_->step() || timeline_.step();
    if (process_->has_stopped() || store_->is_dead()) {
        restart(random_.chance(0.5) ? Loss::Power : Loss::Process);
        return true;
    }
    if (did) {
        return true;
    }
    auto next = timeline_.until_next();
    auto lane = process_->until_next();
    if (lane && (!next || *lane <= *next)) {
        timeline_.advance(*lane);
        process_->wake();
        return true;
    }
    if (next) {
        timeline_.advance(*next);
    }
    return next.has_value();
}

/// Somebody looks at a run: what it is told must outlive any crash.
void World::read() {
    const auto& id = plans_[random_.below(plans_.size())].id;
    auto look = [](const trigger::RunState* state) -> Result<Value> {
        return Value{state == nullptr ? 0 : static_cast<std::int64_t>(state->progress.events)};
    };
    process_->post(engine::QueryInput{
        .run = {.id = id}, .read = look, .done = [this, id](Result<Value> events) {
            if (events) {
                log_.add(timeline_.now(), "reader sees {} events of {}", events->as_int(), id);
                read_[id] = std::max(read_[id], events->as_int());
            }
        }});
}

void World::check_read() {
    for (const auto& [id, events] : read_) {
        auto run = engine::RunName{.id = id};
        auto state = engine::load_run(*store_, engine::shard_of(run, store_->shard_count()), run);
        auto found = state && *state ? (*state)->progress.events : 0;
        if (static_cast<std::int64_t>(found) < events) {
            verdict_.problems.push_back(fmt::format(
                "somebody saw {} events of run {}, and {} are left", events, id, found));
        }
    }
}

void World::do_harm() {
    switch (random_.below(6)) {
        case 0:
            log_.add(timeline_.now(), "is killed");
            restart(random_.chance(0.5) ? Loss::Power : Loss::Process);
            return;
        case 1:
        case 2: {
            auto point = static_cast<CrashPoint>(random_.below(4));
            auto writes = random_.below(5);
            log_.add(timeline_.now(), "will crash in write {} at {}", writes,
                     static_cast<int>(point));
            store_->crash_at_write(writes, point);
            return;
        }
        case 3:
            log_.add(timeline_.now(), "will fail a sync");
            store_->fail_sync(random_.below(5));
            return;
        case 4: set_full(std::chrono::milliseconds{1 + random_.below(1000)}); return;
        default: {
            auto by = std::chrono::milliseconds{static_cast<std::int64_t>(random_.below(200'000)) -
                                                100'000};
            log_.add(timeline_.now(), "wall clock jumps by {} ms", by.count());
            timeline_.jump_wall(by);
        }
    }
}

void World::set_full(Nanos duration) {
    log_.add(timeline_.now(), "disk is full for {} ms", duration.count() / 1'000'000);
    is_full_ = true;
    store_->set_full(true);
    timeline_.after(duration, [this] {
        log_.add(timeline_.now(), "disk has room");
        is_full_ = false;
        store_->set_full(false);
    });
}

void World::restart(Loss loss) {
    do {
        log_.add(timeline_.now(), "restarts after a loss of {}",
                 loss == Loss::Power ? "power" : "process");
        process_.reset();
        functions_.orphan();
        store_ = store_->crash(loss);
        store_->set_full(is_full_);
        check_read();
        timeline_.advance(std::chrono::milliseconds{random_.below(2000)});
        if (loss == Loss::Power) {
            timeline_.boot();
        }
        if (harms_left_ > 0 && random_.chance(0.1)) {
            --harms_left_;
            store_->crash_at_write(0, static_cast<CrashPoint>(random_.below(4)));
        }
    } while (!open_process() && verdict_.problems.empty());
    clients_.ask_again();
    bus_.read_again();
}

bool World::open_process() {
    ++verdict_.lives;
    process_ = std::make_unique<Process>(*store_, timeline_, random_, log_, functions_, options_);
    auto opened = process_->open();
    if (!opened && !store_->is_dead()) {
        verdict_.problems.push_back(fmt::format("cannot be opened: {}", opened.error().message));
    }
    return opened.has_value();
}

} // namespace sluice::simulation

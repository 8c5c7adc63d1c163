#include "engine/engine.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "engine/feed.h"
#include "engine/inspector.h"
#include "engine/internal/lane_thread.h"
#include "engine/internal/object_sweep.h"
#include "reactor/timer_thread.h"
#include "reactor/worker_pool.h"
#include "trigger/state_image.h"

namespace sluice::engine {

namespace {

/// Of a run that is asked for: a standing one may be looked at, but nobody changes it from outside.
Result<void> check_run_id(std::string_view id) {
    if (!trigger::is_run_id(id)) {
        return fail(Errc::InvalidInput,
                    "run id \"{}\": expected 1 to {} bytes of UTF-8 without spaces, slashes and "
                    "controls",
                    replace_invalid_utf8(id), trigger::run_id_bytes_max);
    }
    return {};
}

/// Of a run that is to be.
Result<void> check_given_id(std::string_view id) {
    if (!trigger::is_given_run_id(id)) {
        return fail(Errc::InvalidInput, "run id \"{}\": expected {}", replace_invalid_utf8(id),
                    trigger::given_run_id_rule);
    }
    return {};
}

/// Names and labels stand in keys, where a name has at most 255 bytes.
Result<void> check_request(const StartRequest& request) {
    constexpr auto name_bytes_max = std::size_t{200};
    TRY(check_given_id(request.id));
    if (request.space.empty() || request.space.size() > name_bytes_max) {
        return fail(Errc::InvalidInput, "namespace of {} bytes: expected 1 to {}",
                    request.space.size(), name_bytes_max);
    }
    if (std::abs(request.priority) > priority_max) {
        return fail(Errc::InvalidInput, "priority {}: expected an integer from {} to {}",
                    request.priority, -priority_max, priority_max);
    }
    if (!request.labels.is_null() && !request.labels.is_map()) {
        return fail(Errc::InvalidInput, "labels: expected a map of texts");
    }
    if (request.labels.is_map()) {
        for (const auto& [label, value] : request.labels.as_map()) {
            if (label.empty() || label.size() > name_bytes_max || !value.is_string() ||
                value.size() > name_bytes_max) {
                return fail(Errc::InvalidInput, "label \"{}\": expected a text of at most {} bytes",
                            label, name_bytes_max);
            }
            if (label.starts_with(trigger::types::reserved_prefix)) {
                return fail(Errc::InvalidInput,
                            "label \"{}\": names that begin with sluice. are the engine's own",
                            label);
            }
        }
    }
    return {};
}

using Aside = reactor::WorkerPool::Task;

class ThreadedEngine final : public Engine {
public:
    ThreadedEngine(store::Store& store, const trigger::Vocabulary& vocabulary, const Clock& clock,
                   observe::Diagnostics& diagnostics, EngineOptions options, const Secret& secret)
        : store_(store),
          diagnostics_(diagnostics),
          clock_(clock),
          options_(std::move(options)),
          catalog_(store, vocabulary, options_.find_meaning),
          dispatcher_({.shared = std::move(options_.functions),
                       .by_space = std::move(options_.functions_by_space)},
                      static_cast<std::uint64_t>(clock.wall().time_since_epoch().count()), secret,
                      {.clock = clock,
                       .timers = *timers_,
                       .answered = [this](AnswerInput answer) { post(std::move(answer)); },
                       .reload = [this](Call call) { reload(std::move(call)); },
                       .metrics = options_.metrics,
                       .references = options_.references,
                       .result_bytes_max = options_.result_bytes_max,
                       .aside = [this](Aside task) { aside_.try_post(std::move(task)); }}),
          committer_(store, options_.metrics == nullptr
                                ? nullptr
                                : &options_.metrics->histogram("commit_seconds")) {}

    ~ThreadedEngine() override { stop(); }

    Result<void> open() {
        auto count = store_.shard_count();
        auto lanes = std::max<std::uint32_t>(1, std::min<std::uint32_t>(options_.lanes, count));
        for (auto at = std::uint32_t{0}; at < lanes; ++at) {
            lanes_.push_back(std::make_unique<LaneThread>(store_, committer_, outputs(at),
                                                          options_.lane_limits, diagnostics_,
                                                          fmt::format("lane-{}", at)));
        }
        if (!options_.marker.empty()) {
            marker_ = TRY(CrashMarker::open(options_.marker));
        }
        if (!options_.sharing) {
            TRY(take_over());
        }
        if (options_.references != nullptr) {
            sweep_objects(options_.references->objects(), store_, diagnostics_);
        }
        for (auto& lane : lanes_) {
            lane->start();
        }
        return {};
    }

    Result<void> adopt(std::span<const std::pair<ShardId, store::ShardState>> shards) override {
        for (const auto& [id, state] : shards) {
            auto shard = make_shard(id);
            auto left = std::make_unique<Release>(TRY(shard->open(state)));
            lane_of(id).order(
                [shard = std::move(shard), left = std::move(left)](Lane& lane) mutable {
                    lane.add(std::move(shard), std::move(*left));
                });
        }
        return {};
    }

    void let_go(ShardId shard, std::function<void()> gone) override {
        lane_of(shard).order([shard, gone = std::move(gone)](Lane& lane) mutable {
            lane.let_go(shard, std::move(gone));
        });
    }

    void lose_all(const Error& error, const std::function<void()>& done) override {
        for (auto& each : lanes_) {
            each->lose(error, done);
        }
    }

    bool is_shared() const override { return options_.sharing.has_value(); }

    void take(Input&& input) override {
        auto* answer = std::get_if<AnswerInput>(&input);
        if (answer == nullptr || !answer->done) {
            push(std::move(input));
            return;
        }
        // How it is tried again, and who waits for its place, only the process knows that made the
        // call: behind the adoption of its shard, since that makes the call.
        auto shard = shard_of(input, store_.shard_count());
        lane_of(shard).order([this, answer = std::move(*answer)](Lane&) mutable {
            post(settled(std::move(answer)));
        });
    }

    Catalog& catalog() override { return catalog_; }

    void start(const StartRequest& request, Done done) override {
        auto input = start_input(request);
        if (!input) {
            done(std::unexpected(input.error()));
            return;
        }
        input->done = std::move(done);
        post(*std::move(input));
    }

    AwaitId run(const StartRequest& request, Done started, Done ended) override {
        auto id = next_await();
        auto input = start_input(request);
        if (!input) {
            if (started) {
                started(std::unexpected(input.error()));
            }
            ended(std::unexpected(input.error()));
            return id;
        }
        input->done = std::move(started);
        input->ended = filling(input->run, std::move(ended));
        input->watch = id.raw();
        post(*std::move(input));
        return id;
    }

    void fork(const RunName& run, trigger::EventNumber event, const std::string& id,
              Done done) override {
        auto checked = check_run_id(run.id);
        checked = checked ? check_given_id(id) : checked;
        auto inspector = Inspector{store_, catalog_.vocabulary()};
        auto past = checked ? state_at(inspector, run, event)
                            : Result<PastState>{std::unexpected(checked.error())};
        if (!past) {
            done(std::unexpected(past.error()));
            return;
        }
        fork_from(run, event, *std::move(past), id, {}, std::move(done));
    }

    void restart(const RunName& run, const std::string& id, Value action, Done done) override {
        auto checked = check_run_id(run.id);
        checked = checked ? check_given_id(id) : checked;
        auto inspector = Inspector{store_, catalog_.vocabulary()};
        auto last = checked ? event_before_success(inspector, run)
                            : Result<trigger::EventNumber>{std::unexpected(checked.error())};
        auto past = last ? state_at(inspector, run, *last)
                         : Result<PastState>{std::unexpected(last.error())};
        if (!past) {
            done(std::unexpected(past.error()));
            return;
        }
        // What it had told itself last was that it has come to its end.
        past->state->queue.clear();
        fork_from(run, *last, *std::move(past), id, std::move(action), std::move(done));
    }

    void fork_from(const RunName& run, trigger::EventNumber event, PastState past,
                   const std::string& id, Value action, Done done) {
        auto fork = RunName{.space = run.space, .id = id};
        if (options_.references != nullptr) {
            auto shared = options_.references->objects().share(owner_of(run), owner_of(fork));
            if (!shared) {
                done(std::unexpected(shared.error()));
                return;
            }
        }
        trigger::prepare_fork(*past.state, id, past.moment.steady);
        post(ForkInput{.run = std::move(fork),
                       .fork = {.image = trigger::encode_image(*past.state),
                                .from = fmt::format("{}@{}", run.id, event.raw())},
                       .set = past.state->info.set,
                       .done = std::move(done),
                       .action = std::move(action)});
    }

    void send(std::string space, std::vector<event::Event> events, Accepted done) override {
        if (options_.sharing) {
            options_.sharing->send(std::move(space), std::move(events), std::move(done));
            return;
        }
        send_events(std::move(space), std::move(events), store_.shard_count(), std::move(done),
                    [this](Input&& input) { post(std::move(input)); });
    }

    void command(const RunName& run, std::string type, Value data, Done done) override {
        if (auto checked = check_run_id(run.id); !checked) {
            done(std::unexpected(checked.error()));
            return;
        }
        post(CommandInput{
            .run = run, .type = std::move(type), .data = std::move(data), .done = std::move(done)});
    }

    void answer(std::string_view token, event::Answer answer, Done done) override {
        auto attempt = dispatcher_.tokens().read(token);
        if (!attempt) {
            done(std::unexpected(attempt.error()));
            return;
        }
        auto result = std::exchange(answer.result, {});
        dispatcher_.keep_large(*attempt, std::move(result),
                               [this, attempt = *attempt, answer = std::move(answer),
                                done = std::move(done)](Value kept) mutable {
                                   answer.result = std::move(kept);
                                   post(settled(AnswerInput{.attempt = std::move(attempt),
                                                            .answer = std::move(answer),
                                                            .retry_after = {},
                                                            .done = std::move(done)}));
                               });
    }

    void heartbeat(std::string_view token, std::uint64_t lease, Done done) override {
        auto attempt = dispatcher_.tokens().read(token);
        if (!attempt) {
            done(std::unexpected(attempt.error()));
            return;
        }
        post(HeartbeatInput{
            .attempt = *std::move(attempt), .lease = lease, .done = std::move(done)});
    }

    Result<AttemptId> attempt_of(std::string_view token) const override {
        return dispatcher_.tokens().read(token);
    }

    void query(const RunName& run, std::function<Result<Value>(const trigger::RunState*)> read,
               Done done) override {
        auto checked = check_run_id(run.id);
        if (!checked && !is_standing(run.id)) {
            done(std::unexpected(checked.error()));
            return;
        }
        post(QueryInput{.run = run, .read = std::move(read), .done = std::move(done)});
    }

    AwaitId await(const RunName& run, Done done) override {
        auto id = next_await();
        if (auto checked = check_run_id(run.id); !checked) {
            done(std::unexpected(checked.error()));
        } else {
            post(WatchInput{.run = run, .done = filling(run, std::move(done)), .id = id.raw()});
        }
        return id;
    }

    void abandon(const RunName& run, AwaitId id) override {
        post(UnwatchInput{.run = run, .id = id.raw()});
    }

    void reopen(const RunName& run, Value told, Done done) override {
        if (auto checked = check_run_id(run.id); !checked) {
            done(std::unexpected(checked.error()));
            return;
        }
        post(ReopenInput{.run = run, .told = std::move(told), .done = std::move(done)});
    }

    void remove(const RunName& run, WhenRunning when_running, Done done) override {
        if (auto checked = check_run_id(run.id); !checked) {
            done(std::unexpected(checked.error()));
            return;
        }
        post(RemoveInput{.run = run, .when_running = when_running, .done = std::move(done)});
    }

    void apply_strategy(const std::string& space, const std::string& definition,
                        Done done) override {
        auto hash = catalog_.find(space, definition);
        auto set =
            hash
                ? catalog_.set(*hash)
                : Result<std::shared_ptr<const trigger::TriggerSet>>{std::unexpected(hash.error())};
        if (!set) {
            done(std::unexpected(set.error()));
            return;
        }
        auto params = Value::object({{"strategy", trigger::to_form((*set)->spec().strategy)}});
        auto action = Value::object({{std::string{trigger::admit_action}, std::move(params)}});
        post(CommandInput{
            .run = {.space = space, .id = trigger::standing_run_id("definition", definition)},
            .type = std::string{trigger::types::run_command},
            .data = Value::object({{"action", std::move(action)}}),
            .done = [done = std::move(done)](Result<Value> told) mutable {
                // Where no run has asked yet there is nobody to tell.
                auto is_done = told || told.error().code == Errc::NotFound;
                done(is_done ? Result<Value>{Value{}} : std::move(told));
            }});
    }

    void remove_standing(const RunName& run, Done done) override {
        if (!trigger::is_standing_run_id(run.id)) {
            done(fail(Errc::InvalidInput, "\"{}\" is no standing run", run.id));
            return;
        }
        post(RemoveInput{
            .run = run, .when_running = WhenRunning::Terminate, .done = std::move(done)});
    }

    Result<std::uint64_t> feed(event::Source& source, const FeedOptions& options,
                               const std::stop_token& stop) override {
        auto way = options_.sharing ? options_.sharing->open_feed()
                                    : Post{[this](Input&& input) { push(std::move(input)); }};
        return feed_source(source, options, store_, way, stop);
    }

    void set_function(const std::string& space, const std::string& name,
                      Function function) override {
        dispatcher_.set_function(space, name, std::move(function));
    }
    void remove_function(const std::string& space, const std::string& name) override {
        dispatcher_.remove_function(space, name);
    }

    std::size_t pending_tasks() const override { return dispatcher_.pending(); }
    std::size_t waiting_tasks(const std::string& space) const override {
        return dispatcher_.waiting_in(space);
    }

    EngineStats stats() const override {
        auto stats = EngineStats{};
        for (const auto& lane : lanes_) {
            auto each = lane->stats();
            stats.events += each.events;
            stats.fired += each.fired;
            stats.commits += each.commits;
            stats.commit_bytes += each.commit_bytes;
            stats.quarantined += each.quarantined;
            stats.backlog += each.backlog;
            stats.outbox += each.outbox;
            stats.awake_runs += each.awake_runs;
        }
        return stats;
    }

    void stop() override {
        for (auto& lane : lanes_) {
            lane->stop();
        }
        dispatcher_.stop();
        // Whoever it woke may just be beginning a call.
        timers_.reset();
        aside_.stop();
        if (options_.references != nullptr) {
            options_.references->objects().reclaim();
        }
    }

    /// Without waiting: answers, messages and requests that their senders bound.
    void post(Input&& input) {
        auto shard = shard_of(input, store_.shard_count());
        lane_of(shard).post(std::move(input));
    }

    /// Waits while the lane is busy: back-pressure for sources.
    void push(Input&& input) {
        auto shard = shard_of(input, store_.shard_count());
        lane_of(shard).push(std::move(input));
    }

private:
    /// The same, tried again as its function says, and its call over once it is taken; as it was
    /// where the call was made elsewhere.
    AnswerInput settled(AnswerInput input) {
        input.retry_after = dispatcher_.delay_after(input.attempt, input.answer);
        input.done = [this, attempt = input.attempt,
                      done = std::move(input.done)](Result<Value> answered) mutable {
            if (answered && *answered->find("fate") != Value{to_string(trigger::Fate::Late)}) {
                dispatcher_.settle(attempt);
            }
            done(std::move(answered));
        };
        return input;
    }

    std::unique_ptr<Shard> make_shard(ShardId id) {
        auto count = store_.shard_count();
        return std::make_unique<Shard>(
            id, ShardServices{
                    .store = store_,
                    .catalog = catalog_,
                    .clock = clock_,
                    .diagnostics = diagnostics_,
                    .limits = options_.limits,
                    .awake_runs_max = std::max<std::size_t>(16, options_.awake_runs_max / count),
                    .retention = options_.retention,
                    .checkpoint_events = options_.checkpoint_events,
                    .marker = marker_.get(),
                    .lane = id.raw() % lanes_.size(),
                    .admit_nested = &options_.admit_nested});
    }

    /// All there are: nobody else has the store.
    Result<void> take_over() {
        auto ids = std::vector<ShardId>{};
        for (auto id = std::uint16_t{0}; id < store_.shard_count(); ++id) {
            ids.emplace_back(id);
        }
        auto states = TRY(store_.acquire(ids));
        for (auto at = std::size_t{0}; at < ids.size(); ++at) {
            auto shard = make_shard(ids[at]);
            auto left = TRY(shard->open(states[at]));
            lane_of(ids[at]).add(std::move(shard), std::move(left));
        }
        return {};
    }

    std::vector<ShardId> shards_of_lane(std::size_t lane) const {
        auto shards = std::vector<ShardId>{};
        for (auto id = lane; id < store_.shard_count(); id += lanes_.size()) {
            shards.emplace_back(static_cast<std::uint16_t>(id));
        }
        return shards;
    }

    AwaitId next_await() { return AwaitId{awaits_.fetch_add(1, std::memory_order_relaxed) + 1}; }

    /// Without who is to be told.
    Result<StartInput> start_input(const StartRequest& request) {
        TRY(check_request(request));
        auto hash = request.definition.empty() ? Result<std::string>{""}
                    : request.version.empty()
                        ? catalog_.find(request.space, request.definition)
                        : catalog_.find_version(request.space, request.definition, request.version);
        auto set = TRY(std::move(hash));
        auto input = TRY(input_of(request, set));
        auto info = trigger::RunInfo{.definition = request.definition,
                                     .set = std::move(set),
                                     .input = std::move(input),
                                     .labels = request.labels};
        if (request.priority != 0) {
            info.labels = (info.labels.is_map() ? info.labels : Value::map({}))
                              .with(trigger::priority_label, fmt::format("{}", request.priority));
        }
        return StartInput{.run = {.space = request.space, .id = request.id},
                          .info = std::move(info)};
    }

    Result<Value> input_of(const StartRequest& request, const std::string& hash) {
        if (!request.is_without_input || hash.empty()) {
            return request.input;
        }
        return TRY(catalog_.set(hash))->spec().input;
    }

    LaneOutputs outputs(std::size_t lane) {
        auto made = own_outputs();
        if (options_.sharing) {
            made.elsewhere = options_.sharing->elsewhere;
            made.lost = [this, lane](const Error& error) {
                // While it stood in a commit they were given up, and some may have been taken anew.
                if (!lanes_[lane]->is_losing()) {
                    options_.sharing->lost(shards_of_lane(lane), error);
                }
            };
        }
        return made;
    }

    LaneOutputs own_outputs() {
        return {.dispatch =
                    [this](std::vector<Call> calls) {
                        if (options_.calls_functions) {
                            dispatcher_.dispatch(std::move(calls));
                        }
                    },
                .cancel = [this](const RunName& run,
                                 const trigger::TaskKey& key) { dispatcher_.cancel(run, key); },
                .heartbeat =
                    [this](const AttemptId& attempt, std::uint64_t lease) {
                        return dispatcher_.heartbeat(attempt, lease);
                    },
                .post = [this](Input&& input) { post(std::move(input)); },
                .removed = [this](const RunName& run) { remove_objects_of(run); },
                .watch = options_.watch,
                .stop =
                    [this](const Error& error) {
                        if (!has_stopped_.exchange(true) && options_.on_stop) {
                            options_.on_stop(error);
                        }
                    }};
    }

    void remove_objects_of(const RunName& run) {
        if (options_.references != nullptr) {
            auto& objects = options_.references->objects();
            if (remove_objects(objects, run, diagnostics_)) {
                aside_.try_post([&objects] { objects.reclaim(); });
            }
        }
    }

    /// Hands on an ending with its result in full.
    Done filling(const RunName& run, Done done) {
        if (options_.references == nullptr) {
            return done;
        }
        return [this, run, done = std::move(done)](Result<Value> ending) mutable {
            const auto* result = ending ? ending->find("result") : nullptr;
            if (result == nullptr || !options_.references->has_any(*result)) {
                done(std::move(ending));
                return;
            }
            aside_.try_post(
                [this, run, ending = *std::move(ending), done = std::move(done)]() mutable {
                    auto filled = options_.references->fill_or_leave(run, *ending.find("result"));
                    done(ending.with("result", std::move(filled)));
                });
        };
    }

    /// Its turn has come: what it is called with stands in its run.
    void reload(Call call) {
        auto found = std::make_shared<std::optional<trigger::TaskState>>();
        auto read = [found, key = call.key, attempt = call.attempt,
                     started = call.started](const trigger::RunState* state) -> Result<Value> {
            if (state == nullptr || state->info.started != started) {
                return Value{};
            }
            auto task = state->tasks.find(key);
            if (task != state->tasks.end() && task->second.attempt == attempt &&
                !task->second.is_waiting && state->is_open(task->second)) {
                *found = task->second;
            }
            return Value{};
        };
        auto run = call.run;
        post(
            QueryInput{.run = std::move(run),
                       .read = std::move(read),
                       .done = [this, found, call = std::move(call)](const Result<Value>&) mutable {
                           dispatcher_.resume(std::move(call), std::move(*found));
                       }});
    }

    bool is_standing(std::string_view id) const {
        return id.size() <= trigger::run_id_bytes_max && trigger::is_standing_run_id(id) &&
               catalog_.vocabulary().standing.contains(id.substr(0, id.find('/')));
    }

    LaneThread& lane_of(ShardId shard) { return *lanes_[shard.raw() % lanes_.size()]; }

    store::Store& store_;
    observe::Diagnostics& diagnostics_;
    const Clock& clock_;
    EngineOptions options_;
    Catalog catalog_;
    std::unique_ptr<reactor::TimerThread> timers_ = std::make_unique<reactor::TimerThread>();
    Dispatcher dispatcher_;
    std::unique_ptr<CrashMarker> marker_;
    std::atomic<bool> has_stopped_ = false;
    std::atomic<std::uint64_t> awaits_ = 0;
    /// For objects. What waits for it are answers and calls under way, which have bounds.
    reactor::WorkerPool aside_{
        "objects", {.threads = 2, .tasks_max = std::numeric_limits<std::size_t>::max()}};
    std::vector<std::unique_ptr<LaneThread>> lanes_;
    CommitThread committer_; ///< Goes first: what it finishes comes back to a lane.
};

} // namespace

Result<std::unique_ptr<Engine>> Engine::open(store::Store& store,
                                             const trigger::Vocabulary& vocabulary,
                                             const Clock& clock, observe::Diagnostics& diagnostics,
                                             EngineOptions options) {
    auto secret = options.secret ? *options.secret : TRY(load_secret(store));
    auto engine = std::make_unique<ThreadedEngine>(store, vocabulary, clock, diagnostics,
                                                   std::move(options), secret);
    TRY(engine->open());
    return engine;
}

} // namespace sluice::engine

#include "cluster/node.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <sodium.h>

#include "cluster/balance.h"
#include "cluster/bus_event.h"
#include "cluster/carried_input.h"
#include "cluster/carried_task.h"
#include "cluster/feed_sender.h"
#include "engine/feed.h"
#include "engine/inspector.h"
#include "reactor/thread.h"

namespace sluice::cluster {

namespace {

constexpr auto handover_wait_max = std::chrono::seconds{10};
// Beyond what another process may wait for a task.
constexpr auto tasks_answer_wait = std::chrono::seconds{5};
// Opening a shard may take a while: between so many it sees whether the lease is to be renewed.
constexpr auto taken_at_once_max = std::size_t{4};

Nanos steady_now() {
    return std::chrono::steady_clock::now().time_since_epoch();
}

std::string new_id(Role role) {
    return fmt::format("{}{:08x}{:08x}", role == Role::Worker ? worker_prefix : "gateway-",
                       randombytes_random(), randombytes_random());
}

/// The events of one sending, on their way.
struct Journey {
    std::mutex mutex;
    std::size_t left = 0;
    engine::Receipt receipt;
    std::optional<Error> error;
    engine::Accepted done;

    void arrive(const Result<void>& sent) {
        auto lock = std::unique_lock{mutex};
        if (!sent) {
            error = sent.error();
        }
        if (--left > 0) {
            return;
        }
        lock.unlock();
        error ? done(std::unexpected(*error)) : done(std::move(receipt));
    }
};

} // namespace

Result<std::unique_ptr<Node>> Node::open(store::Store& store, const trigger::Vocabulary& vocabulary,
                                         std::unique_ptr<event::Bus> bus,
                                         const engine::Secret& secret,
                                         observe::Diagnostics& diagnostics, NodeOptions options) {
    if (store.leases() == nullptr) {
        return fail(Errc::Unsupported,
                    "this store cannot be shared by several processes: expected --store with "
                    "redis:// or postgres://");
    }
    if (sodium_init() < 0) {
        return fail(Errc::Internal, "libsodium does not start");
    }
    TRY(bus->create(store.shard_count()));
    auto node = std::unique_ptr<Node>{
        new Node{store, vocabulary, std::move(bus), secret, diagnostics, std::move(options)}};
    node->producer_ = TRY(node->bus_->open_producer());
    node->messages_ = std::make_shared<OrderedSender>(*node->producer_, *node->timers_);
    return node;
}

Node::Node(store::Store& store, const trigger::Vocabulary& vocabulary,
           std::unique_ptr<event::Bus> bus, const engine::Secret& secret,
           observe::Diagnostics& diagnostics, NodeOptions options)
    : store_(store),
      vocabulary_(vocabulary),
      diagnostics_(diagnostics),
      options_(std::move(options)),
      seal_(secret),
      member_({.id = new_id(options_.role), .address = options_.address}),
      leases_(*store.leases()),
      bus_(std::move(bus)),
      peers_(std::make_shared<Peers>(seal_, store.shard_count(), *timers_)) {}

Node::~Node() {
    stop();
}

engine::Sharing Node::sharing() {
    return {.elsewhere = [this](engine::Input&& input) { hand_on(std::move(input)); },
            .send =
                [this](std::string space, std::vector<event::Event> events, engine::Accepted done) {
                    send_events(std::move(space), std::move(events), std::move(done));
                },
            .open_feed =
                [this] {
                    auto sender = std::make_shared<FeedSender>(
                        [peers = peers_](const engine::Input& input, engine::Done done) {
                            peers->send(input, std::move(done));
                        });
                    return [sender](engine::Input&& input) { sender->send(std::move(input)); };
                },
            .lost =
                [this](const std::vector<ShardId>& shards, const Error&) {
                    auto lock = std::lock_guard{mutex_};
                    ++losses_;
                    for (auto shard : shards) {
                        if (owned_.erase(shard) > 0) {
                            leaving_.erase(shard);
                            lost_.insert(shard);
                            feed_->remove(shard);
                        }
                    }
                    changed_.notify_all();
                }};
}

void Node::start(engine::Engine& engine) {
    engine_ = &engine;
    feed_ = std::make_unique<BusFeed>(
        FeedServices{.bus = *bus_,
                     .store = store_,
                     .seal = seal_,
                     .diagnostics = diagnostics_,
                     .take = [this](engine::Input&& input) { engine_->take(std::move(input)); },
                     .stop = options_.stop});
    renewed_ = steady_now();
    watcher_ = reactor::start_thread("lease-watch",
                                     [this](const std::stop_token& stop) { watch_leases(stop); });
    thread_ =
        reactor::start_thread("leases", [this](const std::stop_token& stop) { keep_leases(stop); });
}

void Node::stop() {
    if (tasks_) {
        tasks_->end_asking();
    }
    if (thread_.joinable()) {
        thread_.request_stop();
        thread_.join();
        watcher_.request_stop();
        watcher_.join();
        auto lock = std::unique_lock{mutex_};
        auto owned = std::vector(owned_.begin(), owned_.end());
        lock.unlock();
        let_go(owned);
        lock.lock();
        changed_.wait_for(lock, handover_wait_max, [this] { return owned_.empty(); });
        lock.unlock();
        if (auto left = leases_.leave(member_); !left) {
            diagnostics_.warn("the leases were not given back", {{"why", left.error().message}});
        }
    }
    feed_.reset();
    peers_->stop();
    if (messages_) {
        messages_->stop();
    }
    readers_.stop();
}

/// Renews six times while a lease lasts.
void Node::keep_leases(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        if (auto renewed = renew(); !renewed) {
            diagnostics_.warn("the leases could not be renewed",
                              {{"why", renewed.error().message}});
        }
        auto lock = std::unique_lock{mutex_};
        changed_.wait_for(lock, stop, options_.lease / 6,
                          [this] { return !lost_.empty() || has_more_to_take_; });
    }
}

/// Without an answer it gives its shards up a while before the lease ends.
void Node::watch_leases(const std::stop_token& stop) {
    auto lock = std::unique_lock{mutex_};
    while (!stop.stop_requested()) {
        changed_.wait_for(lock, stop, options_.lease / 6, [] { return false; });
        if (is_late() && !stop.stop_requested()) {
            lock.unlock();
            lose_all("its leases were not renewed in time");
            lock.lock();
        }
    }
}

bool Node::is_late() const {
    return steady_now() - renewed_ > options_.lease * 2 / 3;
}

Result<void> Node::renew() {
    has_more_to_take_ = false;
    auto began = steady_now();
    auto table = TRY(leases_.renew(member_, options_.lease));
    auto lock = std::unique_lock{mutex_};
    renewed_ = began;
    table_ = table;
    auto gone = std::vector<ShardId>{};
    for (auto shard : owned_) {
        if (table.owners[shard.raw()] != member_.id) {
            gone.push_back(shard);
        }
    }
    auto lost = std::vector(lost_.begin(), lost_.end());
    lost_.clear();
    auto owned = owned_;
    auto is_moving = !leaving_.empty();
    lock.unlock();
    peers_->set_table(table);
    show_peers(table);
    if (!gone.empty()) {
        lose_all("another process has some of its shards");
        return {};
    }
    if (!lost.empty()) {
        TRY(leases_.release(member_, lost));
        return {};
    }
    auto wanted = options_.role == Role::Worker ? balance(table, member_.id, owned) : Balance{};
    if (!wanted.let_go.empty() && !is_moving) {
        let_go(wanted.let_go);
    }
    return take_shards(wanted.take, began + options_.lease / 6);
}

/// As many as it can until then, and some in any case.
Result<void> Node::take_shards(std::span<const ShardId> shards, Nanos until) {
    auto losses = losses_.load();
    auto taken = std::size_t{0};
    auto has_time = true;
    while (!shards.empty() && losses == losses_ && has_time) {
        auto count = std::min(shards.size(), taken_at_once_max);
        taken += TRY(take_some(shards.first(count)));
        shards = shards.subspan(count);
        has_time = steady_now() < until;
    }
    has_more_to_take_ = !shards.empty();
    if (taken > 0) {
        auto lock = std::lock_guard{mutex_};
        diagnostics_.info("shards were taken", {{"count", taken}, {"owned", owned_.size()}});
    }
    return {};
}

Result<std::size_t> Node::take_some(std::span<const ShardId> shards) {
    auto answer = leases_.take(member_, shards);
    if (!answer) {
        // Some of them may have been taken; they are released with the next renewal.
        auto lock = std::lock_guard{mutex_};
        lost_.insert(shards.begin(), shards.end());
        return std::unexpected(std::move(answer).error());
    }
    auto& taken = *answer;
    auto losses = losses_.load();
    if (auto adopted = engine_->adopt(taken); !adopted) {
        auto ids = std::vector<ShardId>{};
        std::ranges::transform(taken, std::back_inserter(ids),
                               [](const auto& each) { return each.first; });
        TRY(leases_.release(member_, ids));
        return std::unexpected(std::move(adopted).error());
    }
    auto lock = std::unique_lock{mutex_};
    for (const auto& [shard, state] : taken) {
        owned_.insert(shard);
    }
    if (losses != losses_) {
        // The engine may have dropped some that it had just been given.
        lock.unlock();
        lose_all("some were lost while others were taken");
        return 0;
    }
    for (const auto& [shard, state] : taken) {
        table_.owners[shard.raw()] = member_.id;
        feed_->add(shard);
    }
    peers_->set_table(table_);
    return taken.size();
}

void Node::let_go(const std::vector<ShardId>& shards) {
    for (auto shard : shards) {
        {
            auto lock = std::lock_guard{mutex_};
            if (!leaving_.insert(shard).second) {
                continue;
            }
        }
        feed_->remove(shard);
        engine_->let_go(shard, [this, shard] {
            // On a lane's thread, which must not wait for the store.
            readers_.try_post([this, shard] {
                auto released = leases_.release(member_, std::vector{shard});
                auto lock = std::lock_guard{mutex_};
                owned_.erase(shard);
                leaving_.erase(shard);
                if (!released) {
                    lost_.insert(shard);
                }
                changed_.notify_all();
            });
        });
    }
}

/// Tasks are with those that have shards.
void Node::show_peers(const store::LeaseTable& table) {
    if (tasks_ == nullptr) {
        return;
    }
    auto addresses = std::vector<std::string>{};
    for (const auto& member : table.members) {
        if (member.id != member_.id && member.id.starts_with(worker_prefix)) {
            addresses.push_back(member.address);
        }
    }
    tasks_->set_peers(std::move(addresses));
}

void Node::lose_all(std::string_view why) {
    auto lock = std::unique_lock{mutex_};
    if (owned_.empty()) {
        return;
    }
    ++losses_;
    for (auto shard : owned_) {
        feed_->remove(shard);
        lost_.insert(shard);
    }
    owned_.clear();
    leaving_.clear();
    // Under the lock: lanes are told before any is adopted again.
    engine_->lose_all({Errc::Unavailable, std::string{why}}, [] {});
    lock.unlock();
    diagnostics_.warn("all shards are given up", {{"why", why}});
}

void Node::hand_on(engine::Input&& input) {
    if (auto* query = std::get_if<engine::QueryInput>(&input)) {
        read_from_store(std::move(*query));
        return;
    }
    if (std::holds_alternative<engine::StreamInput>(input) ||
        std::holds_alternative<engine::ConfirmInput>(input)) {
        auto to = engine::shard_of(input, store_.shard_count());
        messages_->send({.to = bus_->partition(to), .key = {}, .json = to_bus_json(input, seal_)});
        return;
    }
    if (auto* start = std::get_if<engine::StartInput>(&input); start != nullptr && start->ended) {
        run_elsewhere(std::move(*start));
        return;
    }
    // What a call answered is of no use: who has the shard now makes the call anew.
    const auto* answer = std::get_if<engine::AnswerInput>(&input);
    if (can_be_carried(input) && (answer == nullptr || answer->done)) {
        peers_->send(std::move(input));
    }
}

/// Only one answer comes back with a request, so who waits for the run's end asks once it has
/// begun.
void Node::run_elsewhere(engine::StartInput&& input) {
    auto watch = std::make_shared<engine::WatchInput>(engine::WatchInput{
        .run = input.run, .done = std::exchange(input.ended, nullptr), .id = input.watch});
    input.done = [this, watch, done = std::move(input.done)](Result<Value> started) mutable {
        if (started) {
            peers_->send(std::move(*watch));
        } else {
            watch->done(std::unexpected(started.error()));
        }
        if (done) {
            done(std::move(started));
        }
    };
    peers_->send(std::move(input));
}

/// What is committed, for whoever asks here instead of where it is decided.
void Node::read_from_store(engine::QueryInput&& input) {
    auto held = std::make_shared<engine::QueryInput>(std::move(input));
    auto is_posted = readers_.try_post([this, held] {
        auto inspector = engine::Inspector{store_, vocabulary_};
        auto state = inspector.run(held->run);
        if (!state && state.error().code != Errc::NotFound) {
            held->done(std::unexpected(state.error()));
            return;
        }
        held->done(held->read(state ? state->get() : nullptr));
    });
    if (!is_posted) {
        held->done(fail(Errc::Unavailable, "too many questions wait already"));
    }
}

void Node::send_events(std::string space, std::vector<event::Event> events, engine::Accepted done) {
    for (const auto& event : events) {
        if (auto checked = engine::check_event(event); !checked) {
            done(std::unexpected(checked.error()));
            return;
        }
    }
    if (events.empty()) {
        done(engine::Receipt{});
        return;
    }
    auto journey = std::make_shared<Journey>();
    journey->left = events.size();
    journey->receipt.fates.assign(events.size(), trigger::Fate::Sent);
    journey->done = std::move(done);
    for (const auto& event : events) {
        auto shard = engine::shard_of(engine::RunName{space, std::string{event.run()}},
                                      store_.shard_count());
        // The event's own id may go to several runs, and may be sent again on purpose.
        producer_->send({.to = bus_->partition(shard),
                         .key = fmt::format("{}/{}", member_.id, sent_.fetch_add(1) + 1),
                         .json = to_bus_json(event, space)},
                        [journey](const Result<void>& sent) { journey->arrive(sent); });
    }
}

Result<void> Node::take(std::string_view sealed, std::function<void(std::string)> done) {
    auto content = TRY(seal_.take_off(sealed));
    auto answer = [done](const Result<Value>& result) { done(encode_answer(result)); };
    auto input = TRY(decode_input(content, answer));
    auto shard = engine::shard_of(input, store_.shard_count());
    auto lock = std::unique_lock{mutex_};
    if (!owned_.contains(shard) || leaving_.contains(shard)) {
        return fail(Errc::Unavailable, "shard {} is not here", shard.raw());
    }
    lock.unlock();
    auto is_answered = !std::holds_alternative<engine::LeaveInput>(input);
    engine_->take(std::move(input));
    if (!is_answered) {
        done(encode_answer(Value{}));
    }
    return {};
}

connector::poll::Desk& Node::share_tasks(connector::poll::Desk& own) {
    own_tasks_ = &own;
    auto ask_peer = [this](const std::string& address, const connector::poll::Question& question,
                           PeerTasks done) {
        auto hear = [done = std::move(done)](const Result<std::string>& answer) mutable {
            done(answer ? decode_tasks(*answer) : std::unexpected(answer.error()));
        };
        return peers_->ask(address, tasks_path, encode_question(question),
                           question.wait + tasks_answer_wait, std::move(hear));
    };
    tasks_ = std::make_unique<TaskDesk>(own, std::move(ask_peer), *timers_);
    return *tasks_;
}

Result<std::function<void()>> Node::give_tasks(std::string_view sealed,
                                               std::function<void(std::string)> done) {
    auto question = TRY(decode_question(TRY(seal_.take_off(sealed))));
    if (own_tasks_ == nullptr) {
        return fail(Errc::Unavailable, "there are no tasks here");
    }
    return own_tasks_->ask(std::move(question), [done = std::move(done)](const auto& tasks) {
        done(encode_tasks(tasks));
    });
}

bool Node::leads() const {
    auto lock = std::lock_guard{mutex_};
    return owned_.contains(ShardId{0}) && !leaving_.contains(ShardId{0}) && !is_late();
}

NodeState Node::state() const {
    auto lock = std::lock_guard{mutex_};
    return {.id = member_.id,
            .members = table_.members.size(),
            .owned = owned_.size(),
            .unowned = static_cast<std::size_t>(std::ranges::count(table_.owners, "")),
            .lag = feed_ ? feed_->lag() : 0};
}

} // namespace sluice::cluster

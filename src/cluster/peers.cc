#include "cluster/peers.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cluster/carried_input.h"

namespace sluice::cluster {

namespace {

constexpr auto ask_again_wait = std::chrono::milliseconds{100};
constexpr auto patience = std::chrono::seconds{20};
constexpr auto answer_wait_max = std::chrono::seconds{30};

Result<http::Call> call_of(const std::string& address, std::string_view path, std::string body) {
    auto url = TRY(http::parse_url(fmt::format("http://{}{}", address, path)));
    return http::Call{.url = std::move(url),
                      .request = {.method = http::Method::Post,
                                  .target = std::string{path},
                                  .headers = {{"Content-Type", "application/octet-stream"}},
                                  .body = std::move(body)}};
}

engine::Done take_done(engine::Input& input) {
    return std::visit(
        [](auto& each) -> engine::Done {
            if constexpr (requires(engine::Done done) { done = std::move(each.done); }) {
                return std::exchange(each.done, nullptr);
            } else {
                return nullptr;
            }
        },
        input);
}

} // namespace

struct Peers::Sending {
    ShardId shard;
    std::string body;
    engine::Done done;
    bool is_repeatable = false;
    bool waits_long = false;             ///< For the end of a run, or room in it, however far off.
    std::atomic<bool> has_moved = false; ///< The shard, from where it was sent to.
    std::chrono::steady_clock::time_point give_up{};
};

Peers::Peers(const Seal& seal, std::uint16_t shard_count, reactor::Scheduler& timers)
    : seal_(seal), shard_count_(shard_count), timers_(timers) {}

void Peers::set_table(store::LeaseTable table) {
    auto moved = std::vector<http::CallId>{};
    auto lock = std::unique_lock{mutex_};
    table_ = std::move(table);
    for (const auto& [number, each] : under_way_) {
        if (each.call && address_of(each.sending->shard) != each.address) {
            each.sending->has_moved = true;
            moved.push_back(*each.call);
        }
    }
    lock.unlock();
    for (auto call : moved) {
        client_->cancel(call);
    }
}

std::string Peers::address_of(ShardId shard) const {
    if (shard.raw() >= table_.owners.size()) {
        return {};
    }
    auto found = std::ranges::find(table_.members, table_.owners[shard.raw()], &store::Member::id);
    return found == table_.members.end() ? std::string{} : found->address;
}

void Peers::send(engine::Input&& input) {
    auto done = take_done(input);
    send(input, std::move(done));
}

void Peers::send(const engine::Input& input, engine::Done done) {
    auto sending = std::make_shared<Sending>();
    sending->shard = engine::shard_of(input, shard_count_);
    sending->body = seal_.put_on(encode_input(input));
    sending->is_repeatable = is_repeatable(input);
    sending->waits_long = std::holds_alternative<engine::WatchInput>(input) ||
                          std::holds_alternative<engine::EventsInput>(input);
    sending->done = std::move(done);
    sending->give_up = std::chrono::steady_clock::now() + patience;
    attempt(std::move(sending));
}

void Peers::attempt(std::shared_ptr<Sending> sending) {
    auto lock = std::unique_lock{mutex_};
    auto address = address_of(sending->shard);
    auto number = ++last_;
    sending->has_moved = false;
    if (!address.empty()) {
        under_way_.emplace(number, UnderWay{sending, address, std::nullopt});
    }
    lock.unlock();
    auto call = address.empty() ? Result<http::Call>{fail(Errc::Unavailable, "nobody has it")}
                                : call_of(address, input_path, sending->body);
    if (!call) {
        forget(number);
        later(std::move(sending), call.error().message);
        return;
    }
    call->timeout = sending->waits_long ? Nanos{0} : Nanos{answer_wait_max};
    call->is_repeatable = sending->is_repeatable;
    auto id = client_->send(*std::move(call), [this, sending, number](auto response) {
        forget(number);
        hear(sending, std::move(response));
    });
    lock.lock();
    if (auto found = under_way_.find(number); found != under_way_.end()) {
        found->second.call = id;
    }
}

std::function<void()> Peers::ask(const std::string& address, std::string_view path,
                                 std::string_view content, Nanos timeout,
                                 std::move_only_function<void(Result<std::string>)> done) {
    auto call = call_of(address, path, seal_.put_on(content));
    if (!call) {
        done(std::unexpected(call.error()));
        return {};
    }
    call->timeout = timeout;
    auto hear = [done = std::move(done)](Result<http::Response> response) mutable {
        if (!response) {
            done(std::unexpected(response.error()));
        } else if (response->status != 200) {
            done(fail(Errc::Unavailable, "it answered with {}", response->status));
        } else {
            done(std::move(response->body));
        }
    };
    auto id = client_->send(*std::move(call), std::move(hear));
    return [weak = weak_from_this(), id] {
        if (auto self = weak.lock()) {
            self->client_->cancel(id);
        }
    };
}

void Peers::forget(std::uint64_t number) {
    auto lock = std::lock_guard{mutex_};
    under_way_.erase(number);
}

void Peers::hear(const std::shared_ptr<Sending>& sending, Result<http::Response> response) {
    auto was_taken = response ? response->status != misdirected_status && response->status != 503
                              : response.error().code != Errc::Unavailable || sending->has_moved;
    if (!was_taken || (!response && sending->is_repeatable)) {
        if (was_taken && sending->waits_long) {
            sending->give_up = std::chrono::steady_clock::now() + patience;
        }
        later(sending, response ? "its shard is moving" : response.error().message);
        return;
    }
    if (!sending->done) {
        return;
    }
    if (!response) {
        sending->done(fail(Errc::Io, "the process that decides it may or may not have taken it: {}",
                           response.error().message));
        return;
    }
    if (response->status != 200) {
        sending->done(
            fail(Errc::Internal, "the process that decides it answered with {}", response->status));
        return;
    }
    auto answer = decode_answer(response->body);
    // Its shard moved before it was decided, or perhaps while it was: it asks there again.
    if (!answer && (answer.error().code == Errc::Unavailable ||
                    (answer.error().code == Errc::Io && sending->is_repeatable))) {
        if (sending->waits_long) {
            sending->give_up = std::chrono::steady_clock::now() + patience;
        }
        later(sending, answer.error().message);
        return;
    }
    sending->done(std::move(answer));
}

void Peers::later(std::shared_ptr<Sending> sending, std::string_view why) {
    if (is_stopped_ || std::chrono::steady_clock::now() >= sending->give_up) {
        if (sending->done) {
            sending->done(fail(Errc::Unavailable, "no worker takes it just now: {}", why));
        }
        return;
    }
    timers_.after(ask_again_wait,
                  [self = weak_from_this(), sending = std::move(sending)]() mutable {
                      if (auto peers = self.lock()) {
                          peers->attempt(std::move(sending));
                      }
                  });
}

} // namespace sluice::cluster

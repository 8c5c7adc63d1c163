#include "connector/http/caller.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "connector/http/answer.h"
#include "connector/http/request.h"
#include "value/time_text.h"

namespace sluice::connector::http {

namespace {

using Done = event::Sink::Done;

event::Answer cancelled() {
    return event::failure("cancelled", "the call was cancelled");
}

} // namespace

/// The calls that have not been answered. Whoever takes one out answers it, so each is answered
/// once.
class Caller::Calls : public std::enable_shared_from_this<Calls> {
public:
    Calls(const Clock& clock, reactor::Scheduler& scheduler, CallerOptions options)
        : clock_(clock),
          scheduler_(scheduler),
          answer_time_max_(options.answer_time_max),
          client_(sluice::http::Client::create({.body_bytes_max = options.answer_bytes_max,
                                                .may_reach = std::move(options.may_reach),
                                                .ca_file = std::move(options.ca_file)})) {}

    void open(std::string callback_base) {
        auto lock = std::lock_guard{mutex_};
        callback_base_ = std::move(callback_base);
        is_open_ = true;
        for (auto& [key, call] : calls_) {
            send(key, call);
        }
    }

    void stop() {
        auto left = std::map<Key, Call>{};
        auto client = std::unique_ptr<sluice::http::Client>{};
        {
            auto lock = std::lock_guard{mutex_};
            left = std::exchange(calls_, {});
            client = std::move(client_);
        }
        client.reset(); // Its last answers find nothing.
        for (auto& [key, call] : left) {
            call.done(cancelled());
        }
    }

    void add(std::shared_ptr<const Function> function, event::Delivery delivery, Done done) {
        auto lock = std::unique_lock{mutex_};
        if (!client_) {
            lock.unlock();
            done(cancelled());
            return;
        }
        auto key = Key{delivery.token, ++last_number_};
        auto call = Call{.function = std::move(function),
                         .delivery = std::move(delivery),
                         .begun = clock_.steady(),
                         .done = std::move(done)};
        auto& added = calls_.emplace(key, std::move(call)).first->second;
        if (is_open_) {
            send(key, added);
        }
    }

    void cancel(std::string_view token) {
        auto taken = std::vector<Call>{};
        {
            auto lock = std::lock_guard{mutex_};
            for (auto at = first_of(token); at != calls_.end() && at->first.first == token;) {
                auto next = std::next(at);
                taken.push_back(std::move(calls_.extract(at).mapped()));
                at = next;
                end(taken.back());
            }
        }
        for (auto& call : taken) {
            call.done(cancelled());
        }
    }

    bool heartbeat(std::string_view token) {
        auto lock = std::lock_guard{mutex_};
        auto is_known = false;
        for (auto at = first_of(token); at != calls_.end() && at->first.first == token; ++at) {
            at->second.heard = clock_.steady();
            is_known = true;
        }
        return is_known;
    }

private:
    // A token may be delivered twice; the number tells the calls apart.
    using Key = std::pair<std::string, std::uint64_t>;

    struct Call {
        std::shared_ptr<const Function> function;
        event::Delivery delivery;
        Nanos begun{0};
        Done done;
        std::optional<sluice::http::CallId> request{}; ///< Under way.
        Nanos heard{0};                                ///< Last sign of life.
        std::optional<reactor::TimerId> timer{};
    };

    std::map<Key, Call>::iterator first_of(std::string_view token) {
        return calls_.lower_bound(Key{std::string{token}, 0});
    }

    void end(const Call& call) {
        if (call.request) {
            client_->cancel(*call.request);
        }
        if (call.timer) {
            scheduler_.cancel(*call.timer);
        }
    }

    void send(const Key& key, Call& call) {
        auto timeout = call.delivery.timeout > Nanos{0} ? call.delivery.timeout : answer_time_max_;
        auto request = sluice::http::Call{
            .url = call.function->url,
            .request = request_of(*call.function, call.delivery, callback_base_),
            .timeout = timeout,
            .is_repeatable = true,
        };
        // What it still holds of the input is not needed any more.
        call.delivery.payload = {};
        // The answer waits for the lock that we hold, so it finds the call complete.
        call.request =
            client_->send(std::move(request), [this, key](Result<sluice::http::Response> response) {
                take(key, std::move(response));
            });
    }

    /// On the client's thread, which ends before this does.
    void take(const Key& key, Result<sluice::http::Response> response) {
        auto lock = std::unique_lock{mutex_};
        auto found = calls_.find(key);
        if (found == calls_.end()) {
            return;
        }
        auto& call = found->second;
        call.request.reset();
        if (response && is_later(*response) && !callback_base_.empty()) {
            call.heard = clock_.steady();
            watch(key, call);
            return;
        }
        auto done = std::move(calls_.extract(found).mapped().done);
        auto answer = !response ? answer_of(response.error())
                      : is_later(*response)
                          ? event::failure("bad_output",
                                           "the function answered 202 to answer later, but there "
                                           "is no server here that it could answer to")
                          : answer_of(*response, clock_.wall());
        lock.unlock();
        done(std::move(answer));
    }

    /// When it is late; nothing: never.
    static std::optional<Nanos> due_of(const Call& call) {
        auto due = std::optional<Nanos>{};
        if (call.delivery.timeout > Nanos{0}) {
            due = call.begun + call.delivery.timeout;
        }
        if (call.function->heartbeat > Nanos{0}) {
            auto beat = call.heard + call.function->heartbeat;
            due = due ? std::min(*due, beat) : beat;
        }
        return due;
    }

    /// A heartbeat moves the time only in the call: whoever wakes too early goes to sleep again.
    void watch(const Key& key, Call& call) {
        auto due = due_of(call);
        if (!due) {
            return;
        }
        auto wake_up = [weak = weak_from_this(), key] {
            if (auto self = weak.lock()) {
                self->wake(key);
            }
        };
        call.timer =
            scheduler_.after(std::max(Nanos{0}, *due - clock_.steady()), std::move(wake_up));
    }

    void wake(const Key& key) {
        auto lock = std::unique_lock{mutex_};
        auto found = calls_.find(key);
        if (found == calls_.end()) {
            return;
        }
        auto now = clock_.steady();
        if (now < *due_of(found->second)) {
            watch(key, found->second);
            return;
        }
        auto call = std::move(calls_.extract(found).mapped());
        lock.unlock();
        auto timeout = call.delivery.timeout;
        auto is_timeout = timeout > Nanos{0} && now >= call.begun + timeout;
        call.done(
            is_timeout
                ? event::failure("timeout", fmt::format("no answer came by its token within {}",
                                                        value::format_duration(timeout)))
                : event::failure("heartbeat",
                                 fmt::format("no heartbeat within {}",
                                             value::format_duration(call.function->heartbeat))));
    }

    const Clock& clock_;
    reactor::Scheduler& scheduler_;
    const Nanos answer_time_max_;
    std::mutex mutex_;
    bool is_open_ = false;
    std::string callback_base_;
    std::map<Key, Call> calls_;
    std::uint64_t last_number_ = 0;
    std::unique_ptr<sluice::http::Client> client_; ///< Null once it has stopped.
};

Caller::Caller(const Clock& clock, reactor::Scheduler& scheduler, CallerOptions options)
    : calls_(std::make_shared<Calls>(clock, scheduler, std::move(options))) {}

Caller::~Caller() {
    stop();
}

void Caller::open(std::string callback_base) {
    calls_->open(std::move(callback_base));
}

void Caller::stop() {
    calls_->stop();
}

void Caller::call(std::shared_ptr<const Function> function, event::Delivery delivery, Done done) {
    calls_->add(std::move(function), std::move(delivery), std::move(done));
}

void Caller::cancel(std::string_view token) {
    calls_->cancel(token);
}

bool Caller::heartbeat(std::string_view token) {
    return calls_->heartbeat(token);
}

void Sink::deliver(event::Delivery delivery, Done done) {
    if (function_) {
        caller_->call(function_, std::move(delivery), std::move(done));
        return;
    }
    auto function = source_();
    if (!function) {
        done(event::failure("secret", std::move(function.error().message)));
        return;
    }
    caller_->call(std::make_shared<const Function>(*std::move(function)), std::move(delivery),
                  std::move(done));
}

} // namespace sluice::connector::http

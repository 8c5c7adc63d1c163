#include "connector/nats/producer.h"

#include <charconv>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "connector/nats/form.h"
#include "connector/nats/internal/answers.h"
#include "connector/nats/internal/flight.h"
#include "connector/nats/internal/message_reader.h"
#include "connector/nats/internal/steady.h"
#include "connector/nats/publish_answer.h"
#include "connector/nats/session.h"

namespace sluice::connector::nats {

namespace {

using internal::Out;
using internal::steady_now;

constexpr auto answer_time = Nanos{std::chrono::milliseconds{50}};
constexpr auto confirm_time_max = std::chrono::seconds{2};
constexpr auto last_time_max = std::chrono::milliseconds{500};
constexpr auto* key_field = "Nats-Msg-Id";

/// A key that can stand in a header field.
bool is_key(std::string_view key) {
    return key.find_first_of(std::string_view{"\r\n\0", 3}) == std::string_view::npos;
}

} // namespace

/// Events are published by whoever sends them, under the lock; a thread of its own takes the
/// answers, and makes the connection anew. The library must not do that: it would publish what is
/// sent meanwhile before what was lost, and order would be gone.
class Producer final : public event::Producer {
public:
    Producer(Options options, Target target, observe::Diagnostics& diagnostics)
        : options_(std::move(options)),
          target_(target),
          diagnostics_(diagnostics),
          random_(static_cast<std::uint64_t>(steady_now().count())) {}
    ~Producer() override;

    /// A server that is not there is tried again later.
    Result<void> start();
    void send(event::Outgoing event, Done done) override;
    Result<void> flush(Nanos wait) override;

private:
    Result<internal::Sent> prepare(event::Outgoing event, Done& done) const;
    natsStatus publish(std::uint64_t number, const internal::Sent& sent);
    internal::MessageHandle message_of(std::uint64_t number, const internal::Sent& sent) const;
    bool has_room(std::size_t bytes) const;

    void run();
    void connect();
    Result<void> try_connect();
    void take_answers();
    void take_answer(natsMsg* answer);
    void confirm_core();
    void expire();
    /// Outside of the lock: they may send again.
    void settle(std::vector<Done> all, const Result<void>& result);

    Options options_;
    Target target_;
    observe::Diagnostics& diagnostics_;
    std::mutex mutex_;
    std::condition_variable room_;
    internal::Flight flight_;
    std::size_t settling_ = 0;         ///< Out of flight, and not yet told.
    std::unique_ptr<Session> session_; ///< Changed under the lock, by the thread alone.
    std::optional<internal::Answers> answers_;
    bool is_sending_ = false; ///< Connected, and what was lost has been sent again.
    bool is_stopping_ = false;
    std::uint64_t attempts_ = 0;
    std::string trouble_;
    Random random_;
    std::thread thread_;
};

Producer::~Producer() {
    {
        auto lock = std::lock_guard{mutex_};
        is_stopping_ = true;
    }
    room_.notify_all();
    if (thread_.joinable()) {
        thread_.join();
    }
    if (session_ && session_->is_connected()) {
        natsConnection_FlushTimeout(session_->connection(), last_time_max.count());
    }
    settle(flight_.settle_all(),
           fail(Errc::Unavailable, "the producer was closed before the event was confirmed"));
}

Result<void> Producer::start() {
    auto done = try_connect();
    if (!done && done.error().code != Errc::Unavailable) {
        return done;
    }
    thread_ = std::thread{[this] { run(); }};
    return {};
}

void Producer::send(event::Outgoing event, Done done) {
    auto prepared = prepare(std::move(event), done);
    if (!prepared) {
        done(std::unexpected(prepared.error()));
        return;
    }
    auto lock = std::unique_lock{mutex_};
    auto bytes = prepared->bytes();
    room_.wait(lock, [&] { return is_stopping_ || has_room(bytes); });
    prepared->until = steady_now() + options_.send_time_max;
    auto number = flight_.add(std::move(*prepared));
    if (!is_sending_) {
        return;
    }
    auto status = publish(number, *flight_.find(number));
    if (status == NATS_MAX_PAYLOAD || status == NATS_INVALID_ARG ||
        status == NATS_INVALID_SUBJECT) {
        auto refused = flight_.settle(number);
        lock.unlock();
        refused(std::unexpected(error_of(status, "sending the event")));
    } else if (status != NATS_OK) {
        // It waits for the next connection.
        is_sending_ = false;
    } else if (target_ == Target::Core) {
        room_.notify_all();
    }
}

Result<internal::Sent> Producer::prepare(event::Outgoing event, Done& done) const {
    if (!is_plain_subject(event.to)) {
        return fail(Errc::InvalidInput, "'{}' is no subject: write one such as orders.done",
                    event.to);
    }
    if (!is_key(event.key)) {
        return fail(Errc::InvalidInput, "the key of an event may not have line ends in it");
    }
    auto message = TRY(encode(options_.mode, std::move(event.json)));
    if (options_.mode == Mode::Structured && target_ != Target::Bus) {
        message.fields.emplace_back("Content-Type", "application/cloudevents+json");
    }
    return internal::Sent{.subject = std::move(event.to),
                          .key = std::move(event.key),
                          .message = std::move(message),
                          .done = std::move(done)};
}

/// One that is larger than all room goes alone.
bool Producer::has_room(std::size_t bytes) const {
    return flight_.count() == 0 || (flight_.count() < options_.in_flight_max &&
                                    flight_.bytes() + bytes <= options_.in_flight_bytes_max);
}

internal::MessageHandle Producer::message_of(std::uint64_t number,
                                             const internal::Sent& sent) const {
    auto reply =
        target_ == Target::Core ? std::string{} : fmt::format("{}{}", answers_->prefix(), number);
    auto message = internal::MessageHandle{};
    auto status =
        natsMsg_Create(Out{message}, sent.subject.c_str(), reply.empty() ? nullptr : reply.c_str(),
                       sent.message.body.data(), static_cast<int>(sent.message.body.size()));
    if (status == NATS_OK && !sent.key.empty()) {
        status = natsMsgHeader_Set(message.get(), key_field, sent.key.c_str());
    }
    for (const auto& [name, text] : sent.message.fields) {
        if (status == NATS_OK) {
            status = natsMsgHeader_Set(message.get(), name.c_str(), text.c_str());
        }
    }
    if (status != NATS_OK) {
        message.reset();
    }
    return message;
}

natsStatus Producer::publish(std::uint64_t number, const internal::Sent& sent) {
    auto message = message_of(number, sent);
    return message ? natsConnection_PublishMsg(session_->connection(), message.get())
                   : NATS_INVALID_ARG;
}

void Producer::run() {
    while (true) {
        auto is_connected = false;
        {
            auto lock = std::lock_guard{mutex_};
            if (is_stopping_) {
                return;
            }
            is_sending_ = is_sending_ && !session_->is_closed();
            is_connected = is_sending_;
        }
        if (!is_connected) {
            connect();
        } else if (target_ == Target::Core) {
            confirm_core();
        } else {
            take_answers();
        }
        expire();
    }
}

void Producer::connect() {
    auto done = try_connect();
    auto lock = std::unique_lock{mutex_};
    if (done) {
        attempts_ = 0;
        return;
    }
    if (trouble_ != done.error().message) {
        trouble_ = done.error().message;
        diagnostics_.warn("events wait for the bus", {{"error", trouble_}});
    }
    auto pause = backoff(attempts_++, random_);
    room_.wait_for(lock, pause, [&] { return is_stopping_; });
}

/// And sends again what was not confirmed, in order, before anything else.
Result<void> Producer::try_connect() {
    auto session = TRY(Session::open(options_, "sluice producer", Session::Reconnect::Never));
    auto answers = TRY(internal::Answers::open(session->connection()));
    auto lock = std::lock_guard{mutex_};
    answers_ = std::move(answers);
    session_ = std::move(session);
    auto status = NATS_OK;
    flight_.each([&](std::uint64_t number, const internal::Sent& sent) {
        if (status == NATS_OK) {
            auto published = publish(number, sent);
            status = published == NATS_MAX_PAYLOAD ? NATS_OK : published;
        }
    });
    if (status != NATS_OK) {
        return std::unexpected(error_of(status, "sending events again"));
    }
    is_sending_ = true;
    trouble_.clear();
    return {};
}

void Producer::take_answers() {
    for (const auto& answer : answers_->take(answer_time)) {
        take_answer(answer.get());
    }
}

void Producer::take_answer(natsMsg* answer) {
    auto subject = internal::text_of(natsMsg_GetSubject(answer));
    auto number = std::uint64_t{0};
    auto digits = subject.substr(std::min(subject.size(), answers_->prefix().size()));
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    auto result = natsMsg_IsNoResponders(answer)
                      ? Result<void>{fail(Errc::Unavailable, "no stream takes this subject")}
                      : parse_publish_answer(internal::body_of(answer));
    auto lock = std::unique_lock{mutex_};
    if (!result) {
        const auto* sent = flight_.find(number);
        result.error().message += sent == nullptr ? "" : fmt::format(" ({})", sent->subject);
    }
    auto done = flight_.settle(number);
    if (!done) {
        return;
    }
    ++settling_;
    lock.unlock();
    done(std::move(result));
    lock.lock();
    --settling_;
    room_.notify_all();
}

/// What was sent before the server answers a ping, it has.
void Producer::confirm_core() {
    auto lock = std::unique_lock{mutex_};
    auto last = flight_.last();
    auto is_idle = flight_.count() == 0;
    if (is_idle) {
        room_.wait_for(lock, answer_time, [&] { return is_stopping_ || flight_.count() > 0; });
        return;
    }
    auto* connection = session_->connection();
    lock.unlock();
    auto wait = std::chrono::milliseconds{confirm_time_max}.count();
    if (natsConnection_FlushTimeout(connection, wait) != NATS_OK) {
        return;
    }
    lock.lock();
    auto settled = flight_.settle_up_to(last);
    lock.unlock();
    settle(std::move(settled), {});
}

void Producer::expire() {
    auto lock = std::unique_lock{mutex_};
    auto expired = flight_.expire(steady_now());
    if (expired.empty()) {
        return;
    }
    auto why = trouble_.empty() ? std::string{"the server did not confirm it"} : trouble_;
    lock.unlock();
    settle(std::move(expired), fail(Errc::Unavailable, "not confirmed in time: {}", why));
}

void Producer::settle(std::vector<Done> all, const Result<void>& result) {
    {
        auto lock = std::lock_guard{mutex_};
        settling_ += all.size();
    }
    for (auto& done : all) {
        done(result);
    }
    auto lock = std::lock_guard{mutex_};
    settling_ -= all.size();
    room_.notify_all();
}

Result<void> Producer::flush(Nanos wait) {
    auto lock = std::unique_lock{mutex_};
    auto is_all = room_.wait_for(lock, wait, [&] { return flight_.count() + settling_ == 0; });
    if (!is_all) {
        return fail(Errc::Unavailable, "{} events are not confirmed{}{}",
                    flight_.count() + settling_, trouble_.empty() ? "" : ": ", trouble_);
    }
    return {};
}

Result<std::unique_ptr<event::Producer>> open_producer(const Options& options, Target target,
                                                       observe::Diagnostics& diagnostics) {
    auto producer = std::make_unique<Producer>(options, target, diagnostics);
    TRY(producer->start());
    return std::unique_ptr<event::Producer>{std::move(producer)};
}

} // namespace sluice::connector::nats

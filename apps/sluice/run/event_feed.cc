#include "sluice/run/event_feed.h"

#include <utility>

#include <unistd.h>

#include "reactor/thread.h"
#include "sluice/output.h"

namespace sluice::app {

Result<std::unique_ptr<EventFeed>> EventFeed::start(const std::string& from, const std::string& run,
                                                    engine::Engine& engine, Progress& progress,
                                                    const Bell& bell) {
    auto feed = std::unique_ptr<EventFeed>{new EventFeed{progress, bell}};
    TRY(feed->open(from, run, engine));
    return feed;
}

Result<void> EventFeed::open(const std::string& from, const std::string& run,
                             engine::Engine& engine) {
    auto bad_line = [this](std::uint64_t line, const Error& error) { tell_bad_line(line, error); };
    from_ = from;
    if (from == "-") {
        from_ = "standard input";
        auto accepted = [this](std::uint64_t line, std::string_view id, trigger::Fate fate,
                               const Value* reply) { tell_accepted(line, id, fate, reply); };
        stream_ = std::make_unique<StreamEvents>(
            engine, STDIN_FILENO, run, StreamEvents::Reports{bad_line, std::move(accepted)});
        thread_ =
            reactor::start_thread("events", [this](std::stop_token) { finish(stream_->run()); });
        return {};
    }
    auto accepted = [this](std::uint64_t line, const std::string& id) {
        tell_accepted(line, id, std::nullopt, nullptr);
    };
    lines_ = TRY(LinesSource::open(from, run, {bad_line, std::move(accepted)}));
    thread_ = reactor::start_thread("events", [this, &engine](std::stop_token stop) {
        auto count = engine.feed(*lines_, {}, std::move(stop));
        finish(count ? Result<void>{} : std::unexpected(count.error()));
    });
    return {};
}

EventFeed::~EventFeed() {
    if (lines_) {
        lines_->stop();
    }
    if (stream_) {
        stream_->stop();
    }
}

std::optional<Error> EventFeed::error() const {
    auto lock = std::lock_guard{mutex_};
    return error_;
}

void EventFeed::finish(const Result<void>& result) {
    if (!result) {
        auto lock = std::lock_guard{mutex_};
        error_ = result.error();
    }
    is_over_ = true;
    bell_.ring();
}

void EventFeed::tell_bad_line(std::uint64_t line, const Error& error) {
    had_bad_lines_ = true;
    if (progress_.style() == ProgressStyle::Quiet) {
        say("{}:{}: {}", from_, line, error.message);
        return;
    }
    progress_.tell(
        fmt::format("{}:{}: {}", from_, line, error.message),
        Value::object({{"kind", "refused"}, {"line", number(line)}, {"message", error.message}}));
}

void EventFeed::tell_accepted(std::uint64_t line, std::string_view id,
                              std::optional<trigger::Fate> fate, const Value* reply) {
    if (progress_.style() != ProgressStyle::Json) {
        return;
    }
    auto json = Value::object({{"kind", "accepted"}, {"line", number(line)}, {"id", id}});
    if (fate) {
        json = json.with("fate", to_string(*fate));
    }
    progress_.tell("", reply == nullptr ? json : json.with("reply", *reply));
}

} // namespace sluice::app

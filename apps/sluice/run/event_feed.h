#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "engine/engine.h"
#include "sluice/run/bell.h"
#include "sluice/run/lines_source.h"
#include "sluice/run/progress.h"
#include "sluice/run/stream_events.h"

namespace sluice::app {

/// Brings the events of `--events` to the engine, on a thread of its own.
class EventFeed {
public:
    /// `-` is standard input. All must outlive it; the bell rings when there are no more events.
    static Result<std::unique_ptr<EventFeed>> start(const std::string& from, const std::string& run,
                                                    engine::Engine& engine, Progress& progress,
                                                    const Bell& bell);
    /// Takes no more, and waits until what it took is durable.
    ~EventFeed();

    bool is_over() const { return is_over_; }
    bool had_bad_lines() const { return had_bad_lines_; }
    /// Why it is over, when that was not the end of the events.
    std::optional<Error> error() const;

private:
    EventFeed(Progress& progress, const Bell& bell) : progress_(progress), bell_(bell) {}

    Result<void> open(const std::string& from, const std::string& run, engine::Engine& engine);
    void finish(const Result<void>& result);
    void tell_bad_line(std::uint64_t line, const Error& error);
    void tell_accepted(std::uint64_t line, std::string_view id, std::optional<trigger::Fate> fate,
                       const Value* reply);

    Progress& progress_;
    const Bell& bell_;
    std::string from_;
    std::unique_ptr<LinesSource> lines_;
    std::unique_ptr<StreamEvents> stream_;
    std::atomic<bool> is_over_ = false;
    std::atomic<bool> had_bad_lines_ = false;
    mutable std::mutex mutex_;
    std::optional<Error> error_;
    std::jthread thread_;
};

} // namespace sluice::app

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "event/codec.h"
#include "sluice/run/bell.h"

namespace sluice::app {

/// Sends the events that come on a descriptor, one a line, and tells of each what became of it once
/// it is durable.
///
/// What is there at the time goes together: the next events are read when those before them are
/// durable.
class StreamEvents {
public:
    struct Reports {
        std::function<void(std::uint64_t line, const Error& error)> bad_line;
        /// The reply is null when no trigger gave one.
        std::function<void(std::uint64_t line, std::string_view id, trigger::Fate fate,
                           const Value* reply)>
            accepted;
    };

    /// The engine must outlive it; the descriptor is borrowed.
    StreamEvents(engine::Engine& engine, int descriptor, std::string run, Reports reports)
        : engine_(engine),
          descriptor_(descriptor),
          run_(std::move(run)),
          reports_(std::move(reports)) {}

    /// Until the stream ends or somebody stops it.
    Result<void> run();
    /// From any thread.
    void stop() const { stop_.ring(); }

private:
    /// False at the end.
    Result<bool> fill();
    Result<void> send_lines(bool is_end);
    Result<engine::Receipt> send(std::vector<event::Event> events);
    void report(std::uint64_t line, const event::Event& event, trigger::Fate fate,
                const Value* reply) const;

    engine::Engine& engine_;
    const int descriptor_;
    const std::string run_;
    const Reports reports_;
    Bell stop_;
    event::Codec codec_;
    std::string buffer_;
    std::uint64_t line_ = 0;
};

} // namespace sluice::app

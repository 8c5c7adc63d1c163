#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "engine/keys.h"
#include "reactor/mailbox.h"
#include "sluice/run/trigger_names.h"
#include "trigger/history.h"

namespace sluice::app {

enum class ProgressStyle : std::uint8_t {
    Quiet,
    Lines,    ///< What a person should know, line by line.
    Terminal, ///< The same, with a status line that is kept up to date.
    Json,     ///< Every firing, task and end as a JSON line.
};

/// Tells on standard error how runs get on, from what the engine commits.
///
/// Records are handed over and told on a thread of its own; the engine waits only when it is far
/// ahead of the reader.
class Progress {
public:
    Progress(ProgressStyle style, std::string run);
    ~Progress();

    /// From here on triggers have names; both outlive `finish`.
    void begin(engine::Catalog& catalog, const store::Store& store);
    /// For EngineOptions::watch.
    void take(const engine::RunName& run, std::string_view record);
    /// A line for people, or its JSON where that is the style.
    void tell(std::string_view line, const Value& json);
    /// Tells what is left and stops.
    void finish();

    ProgressStyle style() const { return style_; }
    /// Grows with everything that happens.
    std::uint64_t activity() const { return activity_; }

private:
    struct Record {
        engine::RunName run;
        std::string bytes;
    };
    struct Counts {
        std::uint64_t events = 0;
        std::uint64_t fired = 0;
        std::uint64_t running = 0;
        std::uint64_t done = 0;
        std::uint64_t failed = 0;
    };

    void work();
    void tell_record(const Record& record);
    void tell_entry(const engine::RunName& run, const trigger::Entry& entry);
    void tell_change(const engine::RunName& run, const trigger::Entry& entry,
                     const trigger::Change& change);
    void tell_answer(const engine::RunName& run, const trigger::Entry& entry);
    void count(const trigger::Change& change);
    void draw_status();
    void clear_status();

    const ProgressStyle style_;
    const std::string run_;
    const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    std::atomic<std::uint64_t> activity_ = 0;
    reactor::Mailbox<Record> mailbox_{{.items_max = 1'000}};
    std::unique_ptr<TriggerNames> names_;
    Counts counts_;
    std::mutex writing_; ///< The status line and the lines above it come from two threads.
    bool has_status_ = false;
    std::jthread thread_;
};

} // namespace sluice::app

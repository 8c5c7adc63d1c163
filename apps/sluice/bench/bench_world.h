#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "event/source.h"
#include "observe/diagnostics.h"
#include "sluice/bench/bench.h"
#include "sluice/bench/bench_batches.h"
#include "store/store.h"
#include "trigger/trigger_set.h"

namespace sluice::app {

using SteadyTime = std::chrono::steady_clock::time_point;

inline double seconds_since(SteadyTime begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A function that answers at once and notes when it was called.
class NotingSink final : public event::Sink {
public:
    void deliver(event::Delivery delivery, Done done) override;
    void cancel(std::string_view /*token*/) override {}
    /// Hears of each call before it is answered. To be set while there are none.
    void set_told(std::function<void(const event::Delivery&)> told) { told_ = std::move(told); }
    std::vector<SteadyTime> take_calls();
    /// The next one, at most so long from now.
    std::optional<SteadyTime> wait_for_call(Nanos wait);

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<SteadyTime> calls_;
    std::function<void(const event::Delivery&)> told_;
};

/// Events in memory, as JSON lines, in chunks: what a broker would hand over.
class LinesInMemory final : public event::Source {
public:
    LinesInMemory(std::string name, const std::vector<std::string>& lines);

    std::string_view name() const override { return name_; }
    Result<std::vector<std::string>> partitions() override { return std::vector{name_}; }
    Result<void> resume(std::string_view partition, std::uint64_t position) override;
    Result<event::Chunk> read(std::size_t bytes_max, Nanos wait) override;
    void confirm(std::string_view partition, std::uint64_t position) override;
    const std::vector<event::Chunk>& chunks() const { return chunks_; }

private:
    std::string name_;
    std::vector<event::Chunk> chunks_;
    std::size_t next_ = 0;
};

/// A store with an engine on it, for one bench.
class BenchWorld {
public:
    static Result<std::unique_ptr<BenchWorld>> create(const BenchOptions& options);
    ~BenchWorld();

    Result<void> open();
    void close();

    engine::Engine& engine() { return *engine_; }
    RecordingStore& store() { return *store_; }
    NotingSink& noop() { return noop_; }
    observe::Diagnostics& diagnostics() { return diagnostics_; }
    const std::filesystem::path& path() const { return path_; }

    Result<void> define(const Value& form);
    Result<void> start(const std::string& run, const std::string& definition);
    Result<Value> await(const std::string& run);
    Result<void> remove(const std::string& run);

private:
    explicit BenchWorld(const BenchOptions& options) : options_(options) {}

    BenchOptions options_;
    std::filesystem::path path_;
    bool is_temporary_ = false;
    trigger::Vocabulary vocabulary_;
    SystemClock clock_;
    observe::NullDiagnostics diagnostics_;
    NotingSink noop_;
    std::unique_ptr<RecordingStore> store_;
    std::unique_ptr<engine::Engine> engine_;
};

/// Writes the same bytes bare and syncs, as often as asked: microseconds at the median.
double measure_sync_us(const std::filesystem::path& folder, std::size_t bytes, int times);

} // namespace sluice::app

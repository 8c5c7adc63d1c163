#include "sluice/bench/bench_world.h"

#include <cstdlib>
#include <future>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "event/message.h"
#include "sluice/backend/stores.h"
#include "sluice/bench/bench_report.h"
#include "sluice/languages.h"

namespace sluice::app {

namespace {

constexpr auto chunk_bytes = std::size_t{256 * 1024};

Result<store::Durability> durability_named(const std::string& name) {
    if (name == "strict") {
        return store::Durability::Strict;
    }
    if (name == "relaxed") {
        return store::Durability::Relaxed;
    }
    if (name == "memory") {
        return store::Durability::Memory;
    }
    return fail(Errc::InvalidInput, "durability \"{}\": expected strict, relaxed or memory", name);
}

template <typename Begin>
Result<Value> wait_for(Begin begin) {
    auto promise = std::make_shared<std::promise<Result<Value>>>();
    auto answer = promise->get_future();
    begin([promise](Result<Value> result) { promise->set_value(std::move(result)); });
    return answer.get();
}

} // namespace

void NotingSink::deliver(event::Delivery delivery, Done done) {
    {
        auto lock = std::lock_guard{mutex_};
        calls_.push_back(std::chrono::steady_clock::now());
        changed_.notify_one();
    }
    if (told_) {
        told_(delivery);
    }
    done({.result = std::move(delivery.payload)});
}

std::vector<SteadyTime> NotingSink::take_calls() {
    auto lock = std::lock_guard{mutex_};
    return std::exchange(calls_, {});
}

std::optional<SteadyTime> NotingSink::wait_for_call(Nanos wait) {
    auto lock = std::unique_lock{mutex_};
    if (!changed_.wait_for(lock, wait, [this] { return !calls_.empty(); })) {
        return std::nullopt;
    }
    auto call = calls_.front();
    calls_.erase(calls_.begin());
    return call;
}

LinesInMemory::LinesInMemory(std::string name, const std::vector<std::string>& lines)
    : name_(std::move(name)) {
    auto gathered = event::ChunkBuilder{};
    for (auto at = std::size_t{0}; at < lines.size(); ++at) {
        gathered.add(at + 1, {.content_type = {}, .attributes = {}, .body = lines[at]});
        if (gathered.bytes() >= chunk_bytes || at + 1 == lines.size()) {
            chunks_.push_back(gathered.take(name_));
        }
    }
}

Result<void> LinesInMemory::resume(std::string_view /*partition*/, std::uint64_t /*position*/) {
    next_ = 0;
    return {};
}

Result<event::Chunk> LinesInMemory::read(std::size_t /*bytes_max*/, Nanos /*wait*/) {
    return next_ < chunks_.size() ? chunks_[next_++] : event::Chunk{.is_last = true};
}

void LinesInMemory::confirm(std::string_view /*partition*/, std::uint64_t /*position*/) {}

Result<std::unique_ptr<BenchWorld>> BenchWorld::create(const BenchOptions& options) {
    auto world = std::unique_ptr<BenchWorld>{new BenchWorld{options}};
    world->path_ = options.data;
    if (options.data.empty()) {
        auto pattern = (std::filesystem::temp_directory_path() / "sluice-bench-XXXXXX").string();
        if (mkdtemp(pattern.data()) == nullptr) {
            return fail(Errc::Io, "cannot make a folder like {}", pattern);
        }
        world->path_ = pattern;
        world->is_temporary_ = true;
    }
    TRY(world->open());
    return world;
}

BenchWorld::~BenchWorld() {
    close();
    if (is_temporary_) {
        auto ignored = std::error_code{};
        std::filesystem::remove_all(path_, ignored);
    }
}

Result<void> BenchWorld::open() {
    auto durability = TRY(durability_named(options_.durability));
    vocabulary_ = make_vocabulary();
    auto store = TRY(open_store(options_.store, path_ / "store", durability, diagnostics_));
    store_ = std::make_unique<RecordingStore>(std::move(store));
    auto engine_options = engine::EngineOptions{.lanes = std::max(options_.threads, 1U)};
    engine_options.functions["noop"] = {.sink = &noop_};
    engine_ = TRY(engine::Engine::open(*store_, vocabulary_, clock_, diagnostics_,
                                       std::move(engine_options)));
    return {};
}

void BenchWorld::close() {
    engine_.reset();
    store_.reset();
}

Result<void> BenchWorld::define(const Value& form) {
    auto name = std::string{form.find("name")->as_string()};
    TRY(engine_->catalog().add("default", {.name = std::move(name), .form = form}));
    return {};
}

Result<void> BenchWorld::start(const std::string& run, const std::string& definition) {
    TRY(go_on(options_));
    TRY(wait_for([&](auto done) {
        engine_->start({.id = run, .definition = definition}, std::move(done));
    }));
    return {};
}

Result<Value> BenchWorld::await(const std::string& run) {
    return wait_for([&](auto done) { engine_->await({.id = run}, std::move(done)); });
}

Result<void> BenchWorld::remove(const std::string& run) {
    TRY(wait_for([&](auto done) {
        engine_->remove({.id = run}, engine::WhenRunning::Terminate, std::move(done));
    }));
    return {};
}

double measure_sync_us(const std::filesystem::path& folder, std::size_t bytes, int times) {
    auto path = folder / "sync-ceiling";
    auto file = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
    if (file < 0) {
        return 0;
    }
    auto content = std::string(bytes, 'x');
    auto samples = Samples{};
    for (auto at = 0; at < times; ++at) {
        auto begin = std::chrono::steady_clock::now();
        auto written = ::write(file, content.data(), content.size());
        if (written != static_cast<ssize_t>(content.size()) || ::fdatasync(file) != 0) {
            break;
        }
        samples.add(seconds_since(begin) * 1e6);
    }
    ::close(file);
    auto ignored = std::error_code{};
    std::filesystem::remove(path, ignored);
    return samples.median();
}

} // namespace sluice::app

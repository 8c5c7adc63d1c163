// What does a durable commit cost, small and large, beside a bare write and sync of the same bytes?

#include <filesystem>
#include <string>

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/random.h"
#include "store/embedded/embedded_store.h"

namespace sluice::store::embedded {
namespace {

constexpr auto event_bytes = std::int64_t{300};

/// On a real disk: where the program was started.
std::filesystem::path empty_place() {
    auto path = std::filesystem::current_path() / "store_bench";
    std::filesystem::remove_all(path);
    return path;
}

/// Text that does not compress to nothing.
std::string events(std::int64_t count) {
    auto random = Random{1};
    auto text = std::string(static_cast<std::size_t>(count * event_bytes), ' ');
    for (auto& character : text) {
        character = static_cast<char>(' ' + random.below(64));
    }
    return text;
}

void bare_write_and_sync(benchmark::State& state) {
    auto path = empty_place();
    auto file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
    auto record = events(state.range(0));
    for (auto _ : state) {
        if (::write(file, record.data(), record.size()) < 0 || ::fdatasync(file) != 0) {
            state.SkipWithError("the disk refuses");
            break;
        }
    }
    ::close(file);
    std::filesystem::remove(path);
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void commit(benchmark::State& state, Durability durability) {
    auto path = empty_place();
    {
        auto store = EmbeddedStore::open(path, {.durability = durability}).value();
        auto batch = store->make_batch();
        auto record = events(state.range(0));
        auto number = std::uint64_t{0};
        for (auto _ : state) {
            batch->clear();
            batch->put(fmt::format("log/{:012}", number), record);
            batch->put(fmt::format("run/{:06}", number++ % 1000),
                       "a context of some forty bytes, or so");
            if (!store->commit(*batch)) {
                state.SkipWithError("the store refuses");
                break;
            }
        }
    }
    std::filesystem::remove_all(path);
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void strict_commit(benchmark::State& state) {
    commit(state, Durability::Strict);
}
void relaxed_commit(benchmark::State& state) {
    commit(state, Durability::Relaxed);
}

void creating(benchmark::State& state) {
    for (auto _ : state) {
        state.PauseTiming();
        auto path = empty_place();
        state.ResumeTiming();
        benchmark::DoNotOptimize(EmbeddedStore::open(path).value());
    }
    std::filesystem::remove_all(empty_place());
}

// The argument is how many events of 300 bytes a commit holds.
BENCHMARK(bare_write_and_sync)
    ->Arg(1)
    ->Arg(100)
    ->Arg(4000)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(strict_commit)->Arg(1)->Arg(100)->Arg(4000)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(relaxed_commit)
    ->Arg(1)
    ->Arg(100)
    ->Arg(4000)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(creating)->UseRealTime()->Unit(benchmark::kMillisecond);

} // namespace
} // namespace sluice::store::embedded

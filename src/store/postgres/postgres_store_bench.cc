// What does a commit cost, small and large, beside the bare statements that it is made of?

#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "base/random.h"
#include "store/flat_batch.h"
#include "store/postgres/internal/commit_request.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/testing/postgres_server.h"

namespace sluice::store::postgres {
namespace {

constexpr auto value_bytes = std::size_t{100};
constexpr auto hot_keys = std::uint64_t{1000};

testing::PostgresServer& server() {
    static auto started = testing::PostgresServer::create().value();
    return *started;
}

Options new_options(Durability durability) {
    static auto number = 0;
    auto options = Options::parse(server().url("b" + std::to_string(++number))).value();
    options.durability = durability;
    return options;
}

/// Every second key is one of a thousand that come again and again, the others are new.
void fill(Batch& batch, Random& random, std::uint64_t& next, std::int64_t keys) {
    for (auto left = keys; left > 0; --left) {
        auto value = std::string(value_bytes, static_cast<char>('a' + random.below(26)));
        auto key = left % 2 == 0 ? fmt::format("hot/{:08}", random.below(hot_keys))
                                 : fmt::format("log/{:012}", next++);
        batch.put(key, value);
    }
}

void commit(benchmark::State& state, Durability durability) {
    auto store = PostgresStore::open(new_options(durability)).value();
    auto shards = std::vector{ShardId{1}};
    auto now = store->acquire(shards).value().front();
    auto batch = store->make_batch();
    auto random = Random{1};
    auto next = std::uint64_t{0};
    for (auto _ : state) {
        batch->clear();
        batch->fence({ShardId{1}, now.epoch, now.commit});
        fill(*batch, random, next, state.range(0));
        if (auto done = store->commit(*batch); !done) {
            state.SkipWithError(done.error().message.c_str());
            break;
        }
        now.commit = CommitNumber{now.commit.raw() + 1};
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void strict_commit(benchmark::State& state) {
    commit(state, Durability::Strict);
}
void relaxed_commit(benchmark::State& state) {
    commit(state, Durability::Relaxed);
}

/// One upsert by itself, of the same keys: no fence, no transaction around it.
void bare_upsert(benchmark::State& state) {
    auto options = new_options(Durability::Strict);
    auto store = PostgresStore::open(options).value();
    auto connection = Connection::open(options, Role::Commits).value();
    auto random = Random{1};
    auto next = std::uint64_t{0};
    auto batch = FlatBatch{};
    for (auto _ : state) {
        batch.clear();
        fill(batch, random, next, state.range(0));
        auto changes = changes_of(batch.data()).value();
        auto request = CommitRequest{changes, {}};
        if (!connection->run_one(request.calls()[1])) {
            state.SkipWithError("the server refuses");
            break;
        }
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void get(benchmark::State& state) {
    auto store = PostgresStore::open(new_options(Durability::Strict)).value();
    auto batch = store->make_batch();
    auto random = Random{1};
    auto next = std::uint64_t{0};
    fill(*batch, random, next, 10'000);
    benchmark::DoNotOptimize(store->commit(*batch));
    for (auto _ : state) {
        benchmark::DoNotOptimize(store->get(fmt::format("log/{:012}", random.below(next))));
    }
}

void scan(benchmark::State& state) {
    auto store = PostgresStore::open(new_options(Durability::Strict)).value();
    auto batch = store->make_batch();
    for (auto number = 0; number < 100'000; ++number) {
        batch->put(fmt::format("log/{:012}", number), std::string(value_bytes, 'v'));
    }
    benchmark::DoNotOptimize(store->commit(*batch));
    for (auto _ : state) {
        auto count = std::int64_t{0};
        auto cursor = store->scan({}, fmt::format("log/{:012}", state.range(0)));
        for (; cursor->is_valid(); cursor->next()) {
            ++count;
        }
        if (count != state.range(0)) {
            state.SkipWithError("rows are missing");
            break;
        }
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

// The argument is how many keys, with values of 100 bytes.
BENCHMARK(bare_upsert)->Arg(1)->Arg(100)->Arg(1000)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(strict_commit)->Arg(1)->Arg(100)->Arg(1000)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(relaxed_commit)
    ->Arg(1)
    ->Arg(100)
    ->Arg(1000)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(get)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(scan)->Arg(10)->Arg(100)->Arg(100'000)->UseRealTime()->Unit(benchmark::kMicrosecond);

} // namespace
} // namespace sluice::store::postgres

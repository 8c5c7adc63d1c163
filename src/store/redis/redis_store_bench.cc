// What does a commit cost beside bare writes to the same server, every write synced?

#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "resp/client.h"
#include "store/redis/redis_store.h"
#include "store/redis/testing/shared_server.h"

namespace sluice::store::redis {
namespace {

constexpr auto value_bytes = std::size_t{100};
const auto shard = ShardId{1};

std::string key_of(std::size_t number) {
    return std::string{'\0', '\1'} + fmt::format("key{:07}", number);
}

/// Batches of so many keys; of `range(1)` keys in all, so that most are new or most are known.
void commit_batches(benchmark::State& state) {
    auto store = RedisStore::open(testing::fresh_options());
    auto owned = (*(*store)->acquire(std::vector{shard}))[0];
    auto batch = (*store)->make_batch();
    auto value = std::string(value_bytes, 'v');
    auto keys = static_cast<std::size_t>(state.range(0));
    auto number = std::size_t{0};
    for (auto unused : state) {
        batch->clear();
        for (auto key = std::size_t{0}; key < keys; ++key) {
            batch->put(key_of(number++ % static_cast<std::size_t>(state.range(1))), value);
        }
        batch->fence({shard, owned.epoch, owned.commit});
        if (!(*store)->commit(*batch)) {
            state.SkipWithError("refused");
            break;
        }
        owned.commit = CommitNumber{owned.commit.raw() + 1};
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(number));
}
BENCHMARK(commit_batches)
    ->Args({3, 1000})
    ->Args({10, 1000})
    ->Args({1000, 1000})
    ->Args({1000, 10'000'000})
    ->UseRealTime();

enum class Bare : std::uint8_t { Set, Hset, OneHset };

void bare_writes(benchmark::State& state, Bare how) {
    auto client = resp::Client::connect(testing::shared_server()->options());
    auto value = std::string(value_bytes, 'v');
    auto keys = static_cast<std::size_t>(state.range(0));
    for (auto unused : state) {
        auto& commands = client->commands();
        if (how == Bare::OneHset) {
            commands.begin(2 + 2 * keys);
            commands.argument(std::string_view{"HSET"});
            commands.argument(std::string_view{"bare"});
        }
        for (auto key = std::size_t{0}; key < keys; ++key) {
            if (how == Bare::Set) {
                commands.add("SET", key_of(key), value);
            } else if (how == Bare::Hset) {
                commands.add("HSET", "bare", key_of(key), value);
            } else {
                commands.argument(key_of(key));
                commands.argument(value);
            }
        }
        if (!client->send()) {
            state.SkipWithError("refused");
            break;
        }
        while (client->owed() > 0) {
            std::ignore = client->receive();
        }
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK_CAPTURE(bare_writes, set, Bare::Set)->Arg(1)->Arg(1000)->UseRealTime();
BENCHMARK_CAPTURE(bare_writes, hset, Bare::Hset)->Arg(1000)->UseRealTime();
BENCHMARK_CAPTURE(bare_writes, one_hset, Bare::OneHset)->Arg(1000)->UseRealTime();

void scan_shard(benchmark::State& state) {
    auto store = RedisStore::open(testing::fresh_options());
    auto batch = (*store)->make_batch();
    for (auto number = std::size_t{0}; number < static_cast<std::size_t>(state.range(0));
         ++number) {
        batch->put(key_of(number), std::string(value_bytes, 'v'));
    }
    std::ignore = (*store)->commit(*batch);
    for (auto unused : state) {
        for (auto cursor = (*store)->scan({}, {}); cursor->is_valid(); cursor->next()) {
            benchmark::DoNotOptimize(cursor->value());
        }
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(scan_shard)->Arg(10)->Arg(100'000)->UseRealTime();

} // namespace
} // namespace sluice::store::redis

#include "store/postgres/internal/commit_request.h"

namespace sluice::store::postgres {
namespace {

constexpr auto statement_bytes_max = std::size_t{16} << 20U;

} // namespace

ArrayParameter array_of(std::span<const ShardId> shards) {
    auto array = ArrayParameter{Type::Int4, shards.size()};
    for (auto shard : shards) {
        array.add_int4(shard.raw());
    }
    return array;
}

CommitRequest::CommitRequest(const Changes& changes, std::span<const Fence> fences) {
    calls_.emplace_back(statements::begin);
    add_fences(fences);
    add_removals(changes);
    add_puts(changes);
    calls_.emplace_back(statements::commit);
}

void CommitRequest::add_fences(std::span<const Fence> fences) {
    if (fences.empty()) {
        return;
    }
    if (fences.size() == 1) {
        const auto& only = fences.front();
        calls_.emplace_back(
            statements::fence_one,
            std::vector{keep(int4(only.shard.raw())),
                        keep(int8(static_cast<std::int64_t>(only.epoch.raw()))),
                        keep(int8(static_cast<std::int64_t>(only.stands_on.raw())))});
        return;
    }
    auto shards = ArrayParameter{Type::Int4, fences.size()};
    auto epochs = ArrayParameter{Type::Int8, fences.size()};
    auto commits = ArrayParameter{Type::Int8, fences.size()};
    for (const auto& fence : fences) {
        shards.add_int4(fence.shard.raw());
        epochs.add_int8(fence.epoch.raw());
        commits.add_int8(fence.stands_on.raw());
    }
    auto named = keep(std::move(shards).take());
    calls_.emplace_back(statements::hold, std::vector{named});
    calls_.emplace_back(statements::fence, std::vector{named, keep(std::move(epochs).take()),
                                                       keep(std::move(commits).take())});
}

void CommitRequest::add_removals(const Changes& changes) {
    if (!changes.ranges.empty()) {
        auto low = ArrayParameter{Type::Bytea, changes.ranges.size(), 64};
        auto high = ArrayParameter{Type::Bytea, changes.ranges.size(), 64};
        for (const auto& [from, to] : changes.ranges) {
            low.add(from);
            high.add(to);
        }
        calls_.emplace_back(statements::remove_ranges,
                            std::vector{keep(std::move(low).take()), keep(std::move(high).take())});
    }
    if (changes.tail) {
        calls_.emplace_back(statements::remove_tail, std::vector{*changes.tail});
    }
    if (!changes.removals.empty()) {
        auto keys = ArrayParameter{Type::Bytea, changes.removals.size(), 64};
        for (auto key : changes.removals) {
            keys.add(key);
        }
        calls_.emplace_back(statements::remove_keys, std::vector{keep(std::move(keys).take())});
    }
}

void CommitRequest::add_puts(const Changes& changes) {
    auto left = std::span{changes.puts};
    while (!left.empty()) {
        auto bytes = std::size_t{0};
        auto count = std::size_t{0};
        do {
            bytes += left[count].first.size() + left[count].second.size();
            ++count;
        } while (count < left.size() && bytes < statement_bytes_max);

        auto keys = ArrayParameter{Type::Bytea, count, 64};
        auto values = ArrayParameter{Type::Bytea, count, bytes / count};
        for (const auto& [key, value] : left.first(count)) {
            keys.add(key);
            values.add(value);
        }
        calls_.emplace_back(statements::put, std::vector{keep(std::move(keys).take()),
                                                         keep(std::move(values).take())});
        left = left.subspan(count);
    }
}

std::string_view CommitRequest::keep(std::string parameter) {
    return parameters_.emplace_back(std::move(parameter));
}

} // namespace sluice::store::postgres

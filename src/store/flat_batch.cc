#include "store/flat_batch.h"

#include <cstdint>

#include "base/bytes.h"

namespace sluice::store {
namespace {

enum class Operation : std::uint8_t { Put = 1, Remove = 2, RemoveRange = 3, Fence = 4 };

void begin(Encoder& out, Operation operation) {
    out.u8(static_cast<std::uint8_t>(operation));
}

Result<void> replay_one(Decoder& in, Batch& to) {
    auto operation = TRY(in.u8());
    switch (static_cast<Operation>(operation)) {
        case Operation::Put: {
            auto key = TRY(in.text());
            to.put(key, TRY(in.text()));
            return {};
        }
        case Operation::Remove: to.remove(TRY(in.text())); return {};
        case Operation::RemoveRange: {
            auto from = TRY(in.text());
            to.remove_range(from, TRY(in.text()));
            return {};
        }
        case Operation::Fence: {
            auto shard = ShardId{TRY(in.u16())};
            auto epoch = Epoch{TRY(in.u64())};
            to.fence({shard, epoch, CommitNumber{TRY(in.u64())}});
            return {};
        }
    }
    return fail(Errc::Corrupt, "operation {} in a batch, 1 to 4 are known", operation);
}

} // namespace

void FlatBatch::put(std::string_view key, std::string_view value) {
    auto out = Encoder{data_};
    begin(out, Operation::Put);
    out.text(key);
    out.text(value);
}

void FlatBatch::remove(std::string_view key) {
    auto out = Encoder{data_};
    begin(out, Operation::Remove);
    out.text(key);
}

void FlatBatch::remove_range(std::string_view from, std::string_view to) {
    auto out = Encoder{data_};
    begin(out, Operation::RemoveRange);
    out.text(from);
    out.text(to);
}

void FlatBatch::fence(const Fence& fence) {
    auto out = Encoder{data_};
    begin(out, Operation::Fence);
    out.u16(fence.shard.raw());
    out.u64(fence.epoch.raw());
    out.u64(fence.stands_on.raw());
    fences_.push_back(fence);
}

void FlatBatch::clear() {
    data_.clear();
    fences_.clear();
}

Result<void> replay(std::string_view data, Batch& to) {
    auto in = Decoder{data};
    while (!in.is_at_end()) {
        TRY(replay_one(in, to));
    }
    return {};
}

} // namespace sluice::store

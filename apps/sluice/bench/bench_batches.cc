#include "sluice/bench/bench_batches.h"

#include <chrono>
#include <utility>

namespace sluice::app {
namespace {

// Where no shard and no catalogue keeps anything.
constexpr auto aside = std::string_view{"\xFF\xFEzz"};
constexpr auto aside_end = std::string_view{"\xFF\xFEz{"};

using Kind = RecordedBatch::Kind;

class RecordingBatch final : public store::Batch {
public:
    RecordingBatch(const RecordingStore& store, std::unique_ptr<store::Batch> batch)
        : store_(store), batch_(std::move(batch)) {}

    void put(std::string_view key, std::string_view value) override {
        note(Kind::Put, key, value);
        batch_->put(key, value);
    }
    void remove(std::string_view key) override {
        note(Kind::Remove, key, {});
        batch_->remove(key);
    }
    void remove_range(std::string_view from, std::string_view to) override {
        note(Kind::RemoveRange, from, to);
        batch_->remove_range(from, to);
    }
    void fence(const store::Fence& fence) override { batch_->fence(fence); }
    std::size_t bytes() const override { return batch_->bytes(); }
    void clear() override {
        recorded_ = {};
        batch_->clear();
    }

    store::Batch& bare() { return *batch_; }
    RecordedBatch take() {
        recorded_.bytes = batch_->bytes();
        return std::exchange(recorded_, {});
    }

private:
    void note(Kind kind, std::string_view key, std::string_view value) {
        if (store_.is_recording()) {
            recorded_.changes.push_back({kind, std::string{key}, std::string{value}});
        }
    }

    const RecordingStore& store_;
    std::unique_ptr<store::Batch> batch_;
    RecordedBatch recorded_;
};

} // namespace

void RecordingStore::begin_recording() {
    auto lock = std::scoped_lock{mutex_};
    is_recording_ = true;
}

std::vector<RecordedBatch> RecordingStore::end_recording() {
    auto lock = std::scoped_lock{mutex_};
    is_recording_ = false;
    return std::exchange(batches_, {});
}

bool RecordingStore::is_recording() const {
    auto lock = std::scoped_lock{mutex_};
    return is_recording_;
}

std::unique_ptr<store::Batch> RecordingStore::make_batch() {
    return std::make_unique<RecordingBatch>(*this, store_->make_batch());
}

Result<void> RecordingStore::commit(store::Batch& batch) {
    auto& recording = static_cast<RecordingBatch&>(batch);
    if (is_recording()) {
        auto recorded = recording.take();
        auto lock = std::scoped_lock{mutex_};
        batches_.push_back(std::move(recorded));
    }
    return store_->commit(recording.bare());
}

Result<double> commit_again(store::Store& store, const std::vector<RecordedBatch>& batches) {
    auto batch = store.make_batch();
    auto key = std::string{aside};
    auto end = std::string{aside};
    auto begin = std::chrono::steady_clock::now();
    for (const auto& recorded : batches) {
        batch->clear();
        for (const auto& change : recorded.changes) {
            key.replace(aside.size(), std::string::npos, change.key);
            switch (change.kind) {
                case Kind::Put: batch->put(key, change.value); break;
                case Kind::Remove: batch->remove(key); break;
                case Kind::RemoveRange:
                    end.replace(aside.size(), std::string::npos, change.value);
                    batch->remove_range(key, end);
                    break;
            }
        }
        TRY(store.commit(*batch));
    }
    auto seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    batch->clear();
    batch->remove_range(aside, aside_end);
    TRY(store.commit(*batch));
    return seconds;
}

} // namespace sluice::app

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/store.h"
#include "trigger/history.h"

namespace sluice::engine {

/// What a lane decided in one go, on its way to the store and back.
class Commit {
public:
    explicit Commit(std::unique_ptr<store::Batch> batch) : batch_(std::move(batch)) {}

    /// To be filled, by the lane.
    store::Batch& batch() { return *batch_; }
    /// A history record, which is large and waits to be packed until the lane decides further.
    void put_history(std::string key, std::string_view record);
    std::size_t bytes() const { return batch_->bytes() + records_.size(); }

    /// Whole, for the store: whoever commits it calls this, on a thread of its own.
    store::Batch& finish();
    /// Empty again, with the room that it has.
    void clear();

private:
    struct History {
        std::string key;
        std::size_t bytes;
    };

    std::unique_ptr<store::Batch> batch_;
    std::string records_; ///< One behind the other.
    std::vector<History> history_;
    trigger::RecordPacker packer_;
};

} // namespace sluice::engine

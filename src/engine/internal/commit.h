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
    /// A history record, the journal's last, which is large and waits to be packed until the lane
    /// decides further. Where it is very large the journal's bytes are taken and not copied.
    void put_history(std::string key, std::string_view record, trigger::Journal& journal);
    std::size_t bytes() const { return batch_->bytes() + records_.size() + elsewhere_bytes_; }

    /// Whole, for the store: whoever commits it calls this, on a thread of its own.
    store::Batch& finish();
    /// Empty again, with the room that it has.
    void clear();

private:
    struct History {
        std::string key;
        std::string_view taken; ///< Of a journal's bytes; without any: it lies among `records_`.
        std::size_t bytes;
        trigger::Journal::Texts texts; ///< That the record lies in.
    };

    std::unique_ptr<store::Batch> batch_;
    std::string records_;             ///< One behind the other.
    std::vector<std::string> taken_;  ///< Bytes of journals.
    std::size_t elsewhere_bytes_ = 0; ///< In what is taken, and in texts.
    std::vector<std::string> rooms_;  ///< For journals whose bytes are taken.
    std::vector<History> history_;
    trigger::RecordPacker packer_;
};

} // namespace sluice::engine

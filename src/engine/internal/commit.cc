#include "engine/internal/commit.h"

namespace sluice::engine {

void Commit::put_history(std::string key, std::string_view record) {
    history_.push_back({.key = std::move(key), .bytes = record.size()});
    records_ += record;
}

store::Batch& Commit::finish() {
    auto rest = std::string_view{records_};
    for (const auto& each : history_) {
        batch_->put(each.key, packer_.pack(rest.substr(0, each.bytes)));
        rest.remove_prefix(each.bytes);
    }
    history_.clear();
    records_.clear();
    return *batch_;
}

void Commit::clear() {
    batch_->clear();
    history_.clear();
    records_.clear();
}

} // namespace sluice::engine

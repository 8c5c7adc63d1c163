#include "engine/internal/commit.h"

#include <utility>

namespace sluice::engine {

namespace {

constexpr auto taken_bytes_min = std::size_t{64 * 1024};
constexpr auto rooms_max = std::size_t{2};

} // namespace

void Commit::put_history(std::string key, std::string_view record, trigger::Journal& journal) {
    auto& added = history_.emplace_back(History{
        .key = std::move(key), .taken = {}, .bytes = record.size(), .texts = journal.texts()});
    for (const auto& text : added.texts) {
        elsewhere_bytes_ += text->packed_bytes();
    }
    if (record.size() < taken_bytes_min) {
        records_ += record;
        return;
    }
    auto room = std::string{};
    if (!rooms_.empty()) {
        room = std::move(rooms_.back());
        rooms_.pop_back();
    }
    taken_.push_back(journal.exchange_bytes(std::move(room)));
    elsewhere_bytes_ += record.size();
    added.taken = record;
}

store::Batch& Commit::finish() {
    auto rest = std::string_view{records_};
    for (const auto& each : history_) {
        auto record = each.taken.empty() ? rest.substr(0, each.bytes) : each.taken;
        batch_->put(each.key, packer_.pack(record, each.texts));
        rest.remove_prefix(each.taken.empty() ? each.bytes : 0);
    }
    history_.clear();
    records_.clear();
    for (auto& bytes : std::exchange(taken_, {})) {
        if (rooms_.size() < rooms_max) {
            rooms_.push_back(std::move(bytes));
        }
    }
    elsewhere_bytes_ = 0;
    return *batch_;
}

void Commit::clear() {
    batch_->clear();
    history_.clear();
    records_.clear();
    taken_.clear();
    elsewhere_bytes_ = 0;
}

} // namespace sluice::engine

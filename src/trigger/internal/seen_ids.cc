#include "trigger/internal/seen_ids.h"

#include <algorithm>
#include <iterator>

namespace sluice::trigger {

bool SeenIds::add(const Fingerprint& print, Time now, Nanos span) {
    if (periods_.empty() || now - periods_.back().since >= span) {
        periods_.push_back({.since = now});
    }
    if (is_in_earlier_period(print) || !periods_.back().ids.insert(print)) {
        return false;
    }
    ++size_;
    added_.push_back(print);
    return true;
}

bool SeenIds::is_in_earlier_period(const Fingerprint& print) const {
    if (periods_.size() < 2) [[likely]] {
        return false;
    }
    return std::any_of(periods_.begin(), periods_.end() - 1,
                       [&](const Period& each) { return each.ids.contains(print); });
}

void SeenIds::take_back(const Fingerprint& print) {
    auto found = std::find(added_.rbegin(), added_.rend(), print);
    if (found == added_.rend()) {
        return;
    }
    added_.erase(std::next(found).base());
    periods_.back().ids.erase(print);
    --size_;
}

std::optional<Time> SeenIds::oldest_end(Nanos span) const {
    if (periods_.empty()) {
        return std::nullopt;
    }
    return periods_.front().since + span;
}

void SeenIds::forget_oldest() {
    auto& oldest = periods_.front();
    size_ -= oldest.ids.size();
    if (oldest.last_record != 0) {
        forgotten_records_ = oldest.last_record;
    }
    periods_.erase(periods_.begin());
}

void SeenIds::forget_all() {
    while (!periods_.empty()) {
        forget_oldest();
    }
    added_.clear();
}

void SeenIds::mark_written(std::uint64_t record) {
    forgotten_records_.reset();
    if (!added_.empty()) {
        periods_.back().last_record = record;
        added_.clear();
    }
}

void SeenIds::restore(std::uint64_t record, Time period, std::span<const Fingerprint> prints) {
    if (periods_.empty() || periods_.back().since != period) {
        periods_.push_back({.since = period});
    }
    auto& newest = periods_.back();
    newest.last_record = record;
    for (const auto& print : prints) {
        newest.ids.insert(print);
    }
    size_ += prints.size();
}

} // namespace sluice::trigger

#include "trigger/pattern_index.h"

#include <algorithm>

#include "base/invariant.h"

namespace sluice::trigger {

namespace {

std::string_view beginning(std::string_view text, std::uint32_t bytes) {
    // `whole` is larger than any text, so it takes all of it.
    return text.substr(0, bytes);
}

} // namespace

bool PatternIndex::Shape::fits(std::string_view type, std::string_view subject) const {
    return (type_bytes == whole || type_bytes <= type.size()) &&
           (subject_bytes == whole || subject_bytes <= subject.size());
}

Fingerprint PatternIndex::Shape::key_of(std::string_view type, std::string_view subject) const {
    auto key = subject_bytes == 0
                   ? fingerprint(beginning(type, type_bytes))
                   : fingerprint(beginning(type, type_bytes), beginning(subject, subject_bytes));
    // Exact `ab` and prefix `ab*` have the same text and must not share a key.
    key.high ^= order();
    return key;
}

std::uint64_t PatternIndex::Shape::order() const {
    return (std::uint64_t{type_bytes} << 32U) | subject_bytes;
}

PatternIndex::Shape PatternIndex::shape_of(const Pattern& pattern) {
    auto bytes_of = [](const TextPattern& text) {
        switch (text.kind) {
            case TextPattern::Kind::Any: return std::uint32_t{0};
            case TextPattern::Kind::Exact: return whole;
            case TextPattern::Kind::Prefix: return static_cast<std::uint32_t>(text.text.size());
        }
        return whole;
    };
    return {.type_bytes = bytes_of(pattern.type), .subject_bytes = bytes_of(pattern.subject)};
}

std::vector<PatternIndex::Shape>::iterator PatternIndex::place_of(const Shape& shape) {
    return std::ranges::lower_bound(shapes_, shape.order(), {}, &Shape::order);
}

void PatternIndex::add(const Pattern& pattern, Match match) {
    INVARIANT(match.pattern != Bucket::shared, "this pattern number marks a shared bucket");
    auto shape = shape_of(pattern);
    auto [bucket, is_new] =
        buckets_.try_emplace(shape.key_of(pattern.type.text, pattern.subject.text), Bucket{match});
    if (!is_new && !insert(bucket->second, match)) {
        return;
    }
    auto place = place_of(shape);
    if (place == shapes_.end() || place->order() != shape.order()) {
        place = shapes_.insert(place, shape);
    }
    ++place->patterns;
    ++size_;
}

void PatternIndex::remove(const Pattern& pattern, Match match) {
    auto shape = shape_of(pattern);
    if (!erase(shape.key_of(pattern.type.text, pattern.subject.text), match)) {
        return;
    }
    auto place = place_of(shape);
    if (--place->patterns == 0) {
        shapes_.erase(place);
    }
    --size_;
}

std::uint32_t PatternIndex::take_list() {
    if (lists_free_.empty()) {
        lists_.emplace_back();
        return static_cast<std::uint32_t>(lists_.size() - 1);
    }
    auto list = lists_free_.back();
    lists_free_.pop_back();
    return list;
}

bool PatternIndex::insert(Bucket& bucket, Match match) {
    if (bucket.match == match) {
        return false;
    }
    if (!bucket.is_shared()) {
        auto list = take_list();
        lists_[list].push_back(bucket.match);
        bucket.match = {.trigger = TriggerNumber{list}, .pattern = Bucket::shared};
    }
    auto& list = lists_[bucket.list()];
    auto place = std::ranges::lower_bound(list, match);
    if (place != list.end() && *place == match) {
        return false;
    }
    list.insert(place, match);
    return true;
}

bool PatternIndex::erase(Fingerprint key, Match match) {
    auto found = buckets_.find(key);
    if (found == buckets_.end()) {
        return false;
    }
    auto& bucket = found->second;
    if (!bucket.is_shared()) {
        if (bucket.match != match) {
            return false;
        }
        buckets_.erase(found);
        return true;
    }
    auto& list = lists_[bucket.list()];
    auto place = std::ranges::lower_bound(list, match);
    if (place == list.end() || *place != match) {
        return false;
    }
    list.erase(place);
    if (list.size() == 1) {
        auto last = list.front();
        list = {};
        lists_free_.push_back(bucket.list());
        bucket.match = last;
    }
    return true;
}

void PatternIndex::append(const Bucket& bucket, Matches& out) const {
    if (!bucket.is_shared()) {
        out.push_back(bucket.match);
        return;
    }
    const auto& list = lists_[bucket.list()];
    out.insert(out.end(), list.begin(), list.end());
}

void PatternIndex::find(std::string_view type, std::string_view subject, Matches& out) const {
    out.clear();
    auto hits = std::size_t{0};
    for (const auto& shape : shapes_) {
        if (!shape.fits(type, subject)) {
            continue;
        }
        auto bucket = buckets_.find(shape.key_of(type, subject));
        if (bucket != buckets_.end()) {
            append(bucket->second, out);
            ++hits;
        }
    }
    // A single bucket is in order already.
    if (hits > 1) {
        std::ranges::sort(out);
        auto repeated = std::ranges::unique(out);
        out.erase(repeated.begin(), repeated.end());
    }
}

} // namespace sluice::trigger

#include <algorithm>
#include <charconv>

#include "trigger/decider.h"

namespace sluice::trigger {

namespace {

/// Ids are forgotten a period at a time: at most this part of their age late.
constexpr auto periods_in_age = 8;

std::optional<std::uint64_t> sequence_of(const event::Event& event) {
    auto attribute = event.attribute("sequence");
    if (!attribute || !attribute->is_string()) {
        return std::nullopt;
    }
    auto text = attribute->as_string();
    auto number = std::uint64_t{0};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return number;
}

} // namespace

bool Decider::note_id(const event::Event& event) {
    auto mode = triggers_.spec().dedupe;
    if (mode == DedupeMode::None) {
        return true;
    }
    if (mode == DedupeMode::Sequence) {
        return note_sequence(event);
    }
    auto age = mode == DedupeMode::Window ? triggers_.spec().dedupe_window : limits_.seen_age_max;
    auto span = std::max(age / periods_in_age, Nanos{1});
    if (mode == DedupeMode::Window || state_.seen.size() >= limits_.seen_ids_max) {
        forget_ids(age, span);
    }
    return state_.seen.add(event.identity(), moment_.time, span);
}

bool Decider::note_sequence(const event::Event& event) {
    auto number = sequence_of(event);
    sequence_before_.reset();
    if (!number) {
        return true;
    }
    auto& last = state_.sequences[std::string{event.source()}];
    if (*number <= last) {
        return false;
    }
    sequence_before_ = last;
    last = *number;
    state_.has_sequences_changed = true;
    return true;
}

void Decider::forget_id(const event::Event& event) {
    if (sequence_before_) {
        state_.sequences[std::string{event.source()}] = *sequence_before_;
        return;
    }
    state_.seen.take_back(event.identity());
}

void Decider::forget_ids(Nanos age, Nanos span) {
    auto is_window = triggers_.spec().dedupe == DedupeMode::Window;
    for (auto end = state_.seen.oldest_end(span); end && *end <= moment_.time - age;
         end = state_.seen.oldest_end(span)) {
        if (!is_window && state_.seen.size() < limits_.seen_ids_max) {
            return;
        }
        state_.seen.forget_oldest();
        if (!is_window) {
            state_.progress.ids_forgotten_before = *end;
        }
    }
}

} // namespace sluice::trigger

#include <charconv>

#include "trigger/decider.h"

namespace sluice::trigger {

namespace {

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
    if (mode == DedupeMode::Window) {
        forget_outside_window();
    }
    auto print = fingerprint(event.source(), event.id());
    if (!state_.seen.insert(print).second) {
        return false;
    }
    state_.seen_added.push_back(print);
    if (mode == DedupeMode::Window) {
        state_.seen_order.emplace_back(moment_.time, print);
    }
    return true;
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
    auto print = fingerprint(event.source(), event.id());
    state_.seen.erase(print);
    std::erase(state_.seen_added, print);
    if (!state_.seen_order.empty() && state_.seen_order.back().second == print) {
        state_.seen_order.pop_back();
    }
}

void Decider::forget_outside_window() {
    auto oldest = moment_.time - triggers_.spec().dedupe_window;
    while (!state_.seen_order.empty() && state_.seen_order.front().first < oldest) {
        state_.seen.erase(state_.seen_order.front().second);
        state_.seen_order.pop_front();
    }
}

} // namespace sluice::trigger

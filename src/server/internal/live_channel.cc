#include "server/internal/live_channel.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sluice::server {

std::string sent_event(std::string_view name, std::string_view id, std::string_view data) {
    return fmt::format("event: {}\nid: {}\ndata: {}\n\n", name, id, data);
}

std::string LiveChannel::id_of(std::uint64_t number) const {
    return fmt::format("{}{}", prefix_, number);
}

void LiveChannel::add(LiveMessage message) {
    last_ = message.number;
    auto text = sent_event(message.name, id_of(message.number), message.data);
    bytes_ += text.size();
    message.data.clear();
    kept_.push_back({.message = std::move(message), .text = std::move(text), .end = bytes_});
    while (kept_.size() > 1 && bytes_ - kept_.front().end > limits_.window_bytes) {
        kept_.pop_front();
    }
    has_unread_ = true;
}

void LiveChannel::join(LiveReaderId id, LiveReader reader) {
    auto next = reader.after ? *reader.after + 1 : last_ == 0 ? 0 : last_ + 1;
    readers_.insert_or_assign(id, Reading{.reader = std::move(reader), .next = next});
    has_unread_ = true;
}

void LiveChannel::go_live(LiveReaderId id, std::uint64_t next) {
    if (auto found = readers_.find(id); found != readers_.end()) {
        found->second.reader.is_catching_up = false;
        found->second.next = next;
        has_unread_ = true;
    }
}

/// What a reader was not told, and where the next message is. Its id is the last of those left out,
/// so that who resumes there does not hear of them again.
void LiveChannel::append_gap(Part& part, std::uint64_t to) const {
    auto data = fmt::format(R"({{"from":{},"to":{}}})", part.to, to - 1);
    part.text += sent_event("gap", id_of(to - 1), data);
    part.to = to;
}

LiveChannel::Part LiveChannel::part_for(const Reading& reading) const {
    auto part = Part{.from = reading.next, .to = reading.next, .text = {}};
    auto at = std::ranges::lower_bound(kept_, reading.next, {},
                                       [](const Kept& each) { return each.message.number; });
    if (part.to == 0 && at != kept_.end()) {
        part.to = at->message.number;
    }
    for (; at != kept_.end() && part.text.size() < limits_.offer_bytes; ++at) {
        if (at->message.number > part.to) {
            append_gap(part, at->message.number);
        }
        if (!reading.reader.wants || reading.reader.wants(at->message)) {
            part.text += at->text;
        }
        part.to = at->message.number + 1;
    }
    if (at != kept_.end() && bytes_ - at->end > limits_.lag_bytes) {
        auto newest = std::ranges::lower_bound(kept_, bytes_ - limits_.offer_bytes, {},
                                               [](const Kept& each) { return each.end; });
        append_gap(part, newest->message.number);
    }
    return part;
}

void LiveChannel::flush() {
    if (!has_unread_) {
        return;
    }
    auto is_behind = false;
    auto shared = std::optional<Part>{};
    for (auto& [id, reading] : readers_) {
        if (reading.reader.is_catching_up || (reading.next > last_ && reading.next != 0)) {
            continue;
        }
        auto can_share = !reading.reader.wants;
        if (!can_share || !shared || shared->from != reading.next) {
            auto part = part_for(reading);
            if (!can_share) {
                // What it does not want it has seen nonetheless.
                if (part.text.empty() || reading.reader.stream->offer(std::move(part.text))) {
                    reading.next = part.to;
                }
                is_behind |= reading.next <= last_;
                continue;
            }
            shared = std::move(part);
        }
        if (shared->text.empty() || reading.reader.stream->offer(shared->text)) {
            reading.next = shared->to;
        }
        is_behind |= reading.next <= last_;
    }
    has_unread_ = is_behind;
}

void LiveChannel::beat() {
    for (auto& [id, reading] : readers_) {
        reading.reader.stream->offer(":\n\n");
    }
}

} // namespace sluice::server

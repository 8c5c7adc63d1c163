#include "engine/internal/waiting_calls.h"

#include <limits>

#include "engine/internal/pool.h"

namespace sluice::engine {

void WaitingCalls::enter(Line& line) {
    if (!line.tickets.empty() && !line.is_blocked && !held_.contains(line.key)) {
        levels_[line.priority][line.key.first].emplace(*line.tickets.begin(), &line);
    }
}

void WaitingCalls::leave(Line& line) {
    auto level = levels_.find(line.priority);
    if (level == levels_.end() || line.tickets.empty()) {
        return;
    }
    auto space = level->second.find(line.key.first);
    if (space == level->second.end()) {
        return;
    }
    space->second.erase(*line.tickets.begin());
    if (space->second.empty()) {
        level->second.erase(space);
    }
    if (level->second.empty()) {
        levels_.erase(level);
    }
}

void WaitingCalls::add(Ticket ticket, std::int32_t priority, std::string key, Call call) {
    auto pool = pool_need_of(call.task.policy).pool;
    auto name = LineName{{call.run.space, std::move(key)}, pool, priority};
    auto& line = lines_[name];
    auto is_first = line.tickets.empty();
    if (is_first) {
        line.priority = priority;
        line.key = std::get<0>(name);
        line.pool = std::move(pool);
    }
    line.tickets.insert(ticket);
    calls_.emplace(ticket, Entry{.call = std::move(call), .line = &line});
    if (is_first) {
        enter(line);
    }
}

WaitingCalls::Line* WaitingCalls::next_line() const {
    if (levels_.empty()) {
        return nullptr;
    }
    const auto& spaces = levels_.begin()->second;
    auto turn = spaces.upper_bound(last_);
    const auto& turns = turn == spaces.end() ? spaces.begin()->second : turn->second;
    return turns.begin()->second;
}

std::optional<WaitingCalls::Turn> WaitingCalls::next() const {
    const auto* line = next_line();
    if (line == nullptr) {
        return std::nullopt;
    }
    auto ticket = *line->tickets.begin();
    return Turn{.key = line->key,
                .call = calls_.at(ticket).call,
                .ticket = ticket,
                .priority = line->priority};
}

void WaitingCalls::block() {
    auto* line = next_line();
    leave(*line);
    line->is_blocked = true;
}

void WaitingCalls::unblock(Ticket ticket) {
    auto& line = *calls_.at(ticket).line;
    line.is_blocked = false;
    enter(line);
}

Call WaitingCalls::take() {
    auto* line = next_line();
    last_ = line->key.first;
    return remove(*line->tickets.begin());
}

Call WaitingCalls::remove(Ticket ticket) {
    auto entry = calls_.extract(ticket);
    auto& line = *entry.mapped().line;
    leave(line);
    line.is_blocked = line.is_blocked && *line.tickets.begin() != ticket;
    line.tickets.erase(ticket);
    if (line.tickets.empty()) {
        lines_.erase(LineName{line.key, line.pool, line.priority});
    } else {
        enter(line);
    }
    return std::move(entry.mapped().call);
}

template <typename Change>
void WaitingCalls::change_lines(const Key& key, Change change) {
    auto at = lines_.lower_bound({key, "", std::numeric_limits<std::int32_t>::min()});
    for (; at != lines_.end() && std::get<0>(at->first) == key; ++at) {
        change(at->second);
    }
}

void WaitingCalls::hold(const Key& key) {
    auto held = key; // The caller's may be a line's own.
    change_lines(held, [this](Line& line) { leave(line); });
    held_.insert(std::move(held));
}

void WaitingCalls::let_go(const Key& key) {
    if (held_.erase(key) > 0) {
        change_lines(key, [this](Line& line) { enter(line); });
    }
}

} // namespace sluice::engine

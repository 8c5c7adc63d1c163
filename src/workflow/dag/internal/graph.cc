#include "workflow/dag/internal/graph.h"

#include <algorithm>

namespace sluice::workflow::dag::internal {

Graph::Graph(const Flow& flow) : flow_(flow) {
    auto count = flow.tasks.size();
    auto waits = std::vector<std::uint32_t>(count);
    auto first = std::vector<std::uint32_t>(count + 1);
    for (auto at = std::size_t{0}; at < count; ++at) {
        waits[at] = static_cast<std::uint32_t>(flow.tasks[at].upstream().size());
        for (auto before : flow.tasks[at].upstream()) {
            ++first[before + 1];
        }
    }
    for (auto at = std::size_t{0}; at < count; ++at) {
        first[at + 1] += first[at];
    }
    auto behind = std::vector<std::uint32_t>(first[count]);
    auto next = first;
    for (auto at = std::uint32_t{0}; at < count; ++at) {
        for (auto before : flow.tasks[at].upstream()) {
            behind[next[before]++] = at;
        }
    }
    order_.reserve(count);
    for (auto at = std::uint32_t{0}; at < count; ++at) {
        if (waits[at] == 0) {
            order_.push_back(at);
        }
    }
    place_.assign(count, UINT32_MAX);
    for (auto at = std::size_t{0}; at < order_.size(); ++at) {
        auto task = order_[at];
        place_[task] = static_cast<std::uint32_t>(at);
        for (auto edge = first[task]; edge < first[task + 1]; ++edge) {
            if (--waits[behind[edge]] == 0) {
                order_.push_back(behind[edge]);
            }
        }
    }
    seen_.assign(count, 0);
}

std::vector<std::uint32_t> Graph::cycle() const {
    auto found = std::ranges::find(place_, UINT32_MAX);
    if (found == place_.end()) {
        return {};
    }
    auto path = std::vector<std::uint32_t>{static_cast<std::uint32_t>(found - place_.begin())};
    auto met = std::vector<std::uint32_t>(place_.size(), UINT32_MAX);
    met[path.front()] = 0;
    while (true) {
        // What cannot be ordered waits for something that cannot either.
        const auto& upstream = flow_.tasks[path.back()].upstream();
        auto before = *std::ranges::find_if(
            upstream, [&](std::uint32_t each) { return place_[each] == UINT32_MAX; });
        if (met[before] != UINT32_MAX) {
            path.erase(path.begin(), path.begin() + met[before]);
            std::ranges::reverse(path);
            return path;
        }
        met[before] = static_cast<std::uint32_t>(path.size());
        path.push_back(before);
    }
}

Graph::Finals Graph::finals() const {
    auto is_heard = std::vector<bool>(flow_.tasks.size());
    auto is_last = std::vector<bool>(flow_.tasks.size(), true);
    for (const auto& task : flow_.tasks) {
        for (auto before : task.upstream()) {
            is_heard[before] = is_heard[before] || task.waits_for_all();
            is_last[before] = false;
        }
    }
    auto finals = Finals{};
    for (auto at = std::uint32_t{0}; at < is_last.size(); ++at) {
        if (is_last[at]) {
            finals.tasks.push_back(at);
        }
    }
    finals.last = finals.tasks.size();
    for (auto at = std::uint32_t{0}; at < is_last.size(); ++at) {
        if (!is_last[at] && !is_heard[at]) {
            finals.tasks.push_back(at);
        }
    }
    return finals;
}

Graph::Answer Graph::is_before(std::uint32_t first, std::uint32_t later) {
    ++question_;
    auto todo = std::vector<std::uint32_t>{later};
    while (!todo.empty()) {
        auto at = todo.back();
        todo.pop_back();
        for (auto before : flow_.tasks[at].upstream()) {
            if (before == first) {
                return Answer::Yes;
            }
            if (looks_left_ == 0) {
                return Answer::TooFar;
            }
            --looks_left_;
            // Nothing behind it in the order leads to it.
            if (place_[before] > place_[first] && seen_[before] != question_) {
                seen_[before] = question_;
                todo.push_back(before);
            }
        }
    }
    return Answer::No;
}

} // namespace sluice::workflow::dag::internal

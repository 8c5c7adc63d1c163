#include "graph/internal/layers.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sluice::graph::internal {

namespace {

constexpr auto lines_max = std::size_t{200'000};
constexpr auto sweeps_max = 6;
constexpr auto links_swept_max = std::size_t{2'000'000}; // Of all sweeps together.

/// Edges by the node they leave.
class Leaving {
public:
    Leaving(std::size_t nodes, std::span<const Link> edges)
        : first_(nodes + 1), edges_(edges.size()) {
        for (const auto& edge : edges) {
            ++first_[edge.from + 1];
        }
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        auto next = first_;
        for (auto at = std::uint32_t{0}; at < edges.size(); ++at) {
            edges_[next[edges[at].from]++] = at;
        }
    }
    std::span<const std::uint32_t> of(std::uint32_t node) const {
        return std::span{edges_}.subspan(first_[node], first_[node + 1] - first_[node]);
    }

private:
    std::vector<std::uint32_t> first_;
    std::vector<std::uint32_t> edges_;
};

/// Edges that lead back to a node on the way to them, found from the nodes in their order.
std::vector<bool> find_back(std::size_t nodes, std::span<const Link> edges,
                            const Leaving& leaving) {
    enum class Seen : std::uint8_t { No, OnTheWay, Yes };
    auto seen = std::vector<Seen>(nodes);
    auto is_back = std::vector<bool>(edges.size());
    auto way = std::vector<std::pair<std::uint32_t, std::size_t>>{};
    auto enter = [&](std::uint32_t node) {
        seen[node] = Seen::OnTheWay;
        way.emplace_back(node, 0);
    };
    for (auto start = std::uint32_t{0}; start < nodes; ++start) {
        if (seen[start] == Seen::No) {
            enter(start);
        }
        while (!way.empty()) {
            auto& [node, next] = way.back();
            auto out = leaving.of(node);
            if (next == out.size()) {
                seen[node] = Seen::Yes;
                way.pop_back();
                continue;
            }
            auto edge = out[next++];
            auto to = edges[edge].to;
            is_back[edge] = seen[to] == Seen::OnTheWay;
            if (seen[to] == Seen::No) {
                enter(to);
            }
        }
    }
    return is_back;
}

std::vector<std::uint32_t> find_ranks(std::size_t nodes, std::span<const Link> edges,
                                      const Leaving& leaving, const std::vector<bool>& is_back) {
    auto waits = std::vector<std::uint32_t>(nodes);
    for (auto at = std::size_t{0}; at < edges.size(); ++at) {
        waits[edges[at].to] += is_back[at] ? 0 : 1;
    }
    auto order = std::vector<std::uint32_t>{};
    for (auto node = std::uint32_t{0}; node < nodes; ++node) {
        if (waits[node] == 0) {
            order.push_back(node);
        }
    }
    auto ranks = std::vector<std::uint32_t>(nodes);
    for (auto at = std::size_t{0}; at < order.size(); ++at) {
        for (auto edge : leaving.of(order[at])) {
            if (is_back[edge]) {
                continue;
            }
            auto to = edges[edge].to;
            ranks[to] = std::max(ranks[to], ranks[order[at]] + 1);
            if (--waits[to] == 0) {
                order.push_back(to);
            }
        }
    }
    return ranks;
}

/// Puts slots of lines where edges pass layers, and links each slot with the next.
void link(Layers& layers, std::span<const Link> edges, const Leaving& leaving,
          const std::vector<bool>& is_back) {
    auto lines = std::size_t{0};
    auto met =
        std::vector<std::uint32_t>(layers.slots.size(), none); // By the last that leads to it.
    auto count = static_cast<std::uint32_t>(layers.slots.size());
    auto connect = [&](std::uint32_t upper, std::uint32_t lower) {
        layers.slots[upper].below.push_back(lower);
        layers.slots[lower].above.push_back(upper);
    };
    for (auto node = std::uint32_t{0}; node < count; ++node) {
        auto rank = layers.slots[node].rank;
        auto trunk = std::vector<std::uint32_t>{node}; // By rank from here, as far as need be.
        for (auto edge : leaving.of(node)) {
            if (is_back[edge]) {
                layers.back.push_back(edge);
                continue;
            }
            auto to = edges[edge].to;
            auto length = layers.slots[to].rank - rank;
            if (length > trunk.size() && lines + length - trunk.size() > lines_max) {
                layers.far.push_back(edge);
                continue;
            }
            while (trunk.size() < length) {
                ++lines;
                auto next = static_cast<std::uint32_t>(layers.slots.size());
                auto next_rank = rank + static_cast<std::uint32_t>(trunk.size());
                layers.slots.push_back(
                    {.source = node, .rank = next_rank, .above = {}, .below = {}});
                connect(trunk.back(), next);
                trunk.push_back(next);
            }
            if (std::exchange(met[to], node) != node) {
                connect(trunk[length - 1], to);
            }
        }
    }
}

/// Pairs of links between two layers that cross, by the places of their ends.
std::uint64_t crossings(const Layers& layers, const std::vector<std::uint32_t>& upper,
                        const std::vector<std::uint32_t>& place, std::size_t width) {
    auto tree = std::vector<std::uint64_t>(width + 1);
    auto total = std::uint64_t{0};
    auto seen = std::uint64_t{0};
    auto ends = std::vector<std::uint32_t>{};
    for (auto slot : upper) {
        ends.clear();
        for (auto below : layers.slots[slot].below) {
            ends.push_back(place[below]);
        }
        for (auto end : ends) {
            auto left = std::uint64_t{0};
            for (auto at = std::size_t{end} + 1; at > 0; at &= at - 1) {
                left += tree[at];
            }
            total += seen - left;
        }
        for (auto end : ends) {
            for (auto at = std::size_t{end} + 1; at <= width; at += at & (~at + 1)) {
                ++tree[at];
            }
        }
        seen += ends.size();
    }
    return total;
}

/// Orders each layer by the mean place of what its slots are linked with above or below.
class Sweeper {
public:
    explicit Sweeper(Layers& layers) : layers_(layers), place_(layers.slots.size()) {
        for (const auto& slot : layers.slots) {
            links_ += slot.below.size();
        }
        for (const auto& rank : layers_.ranks) {
            number(rank);
        }
    }

    void sweep() {
        auto sweeps = std::min<std::size_t>(sweeps_max, links_swept_max / (links_ + 1));
        auto best = layers_.ranks;
        auto least = count();
        for (auto at = std::size_t{0}; at < sweeps && least > 0; ++at) {
            for (auto rank = std::size_t{1}; rank < layers_.ranks.size(); ++rank) {
                order(layers_.ranks[rank], &Slot::above);
            }
            for (auto rank = layers_.ranks.size() - 1; rank-- > 0;) {
                order(layers_.ranks[rank], &Slot::below);
            }
            if (auto now = count(); now < least) {
                least = now;
                best = layers_.ranks;
            }
        }
        layers_.ranks = std::move(best);
    }

private:
    void number(const std::vector<std::uint32_t>& rank) {
        for (auto at = std::uint32_t{0}; at < rank.size(); ++at) {
            place_[rank[at]] = at;
        }
    }

    void order(std::vector<std::uint32_t>& rank, std::vector<std::uint32_t> Slot::* linked) {
        auto keyed = std::vector<std::pair<double, std::uint32_t>>{};
        for (auto slot : rank) {
            const auto& others = layers_.slots[slot].*linked;
            auto sum = 0.0;
            for (auto other : others) {
                sum += place_[other];
            }
            keyed.emplace_back(
                others.empty() ? place_[slot] : sum / static_cast<double>(others.size()), slot);
        }
        std::ranges::stable_sort(keyed, {}, &std::pair<double, std::uint32_t>::first);
        std::ranges::transform(keyed, rank.begin(), &std::pair<double, std::uint32_t>::second);
        number(rank);
    }

    std::uint64_t count() const {
        auto total = std::uint64_t{0};
        for (auto rank = std::size_t{1}; rank < layers_.ranks.size(); ++rank) {
            total +=
                crossings(layers_, layers_.ranks[rank - 1], place_, layers_.ranks[rank].size());
        }
        return total;
    }

    Layers& layers_;
    std::vector<std::uint32_t> place_; ///< In its layer, by slot.
    std::size_t links_ = 0;
};

} // namespace

Layers arrange(std::size_t nodes, std::span<const Link> edges) {
    auto leaving = Leaving{nodes, edges};
    auto is_back = find_back(nodes, edges, leaving);
    auto ranks = find_ranks(nodes, edges, leaving, is_back);
    auto layers = Layers{};
    for (auto node = std::uint32_t{0}; node < nodes; ++node) {
        layers.slots.push_back(
            {.node = node, .source = node, .rank = ranks[node], .above = {}, .below = {}});
    }
    link(layers, edges, leaving, is_back);
    for (auto slot = std::uint32_t{0}; slot < layers.slots.size(); ++slot) {
        auto rank = layers.slots[slot].rank;
        layers.ranks.resize(std::max<std::size_t>(layers.ranks.size(), rank + 1));
        layers.ranks[rank].push_back(slot);
    }
    if (!layers.ranks.empty()) {
        Sweeper{layers}.sweep();
    }
    return layers;
}

} // namespace sluice::graph::internal

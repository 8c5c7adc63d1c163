#include <algorithm>
#include <cmath>
#include <cstddef>

#include "graph/internal/layers.h"

namespace sluice::graph::internal {

namespace {

constexpr auto sweeps = 5;
constexpr auto line_weight = 8.0; // Lines that pass several layers had better be straight.
constexpr auto idle_weight = 0.01;

/// Slots that must move together, and where they want to be.
struct Block {
    double sum = 0;
    double weight = 0;
    std::size_t count = 0;

    double mean() const { return sum / weight; }
};

class Placer {
public:
    Placer(const Layers& layers, std::span<const int> widths, int gap)
        : layers_(layers), widths_(widths), gap_(gap), middles_(layers.slots.size()) {}

    std::vector<int> place() {
        for (const auto& rank : layers_.ranks) {
            settle(rank, nullptr);
        }
        for (auto at = 0; at < sweeps; ++at) {
            for (auto rank = layers_.ranks.rbegin(); rank != layers_.ranks.rend(); ++rank) {
                settle(*rank, &Slot::below);
            }
            for (const auto& rank : layers_.ranks) {
                settle(rank, &Slot::above);
            }
        }
        straighten();
        move_to_zero();
        return std::move(middles_);
    }

private:
    /// How far the middles of two neighbours are apart at least.
    int apart(std::uint32_t left, std::uint32_t right) const {
        return widths_[left] - (widths_[left] / 2) + gap_ + (widths_[right] / 2);
    }

    /// Where a slot wants to be, and how much.
    Block wish_of(std::uint32_t at, std::vector<std::uint32_t> Slot::* linked) const {
        const auto& slot = layers_.slots[at];
        auto wish = Block{.count = 1};
        if (linked != nullptr) {
            for (auto other : slot.*linked) {
                auto is_line = slot.node == none && layers_.slots[other].node == none;
                auto weight = is_line ? line_weight : 1.0;
                wish.sum += weight * middles_[other];
                wish.weight += weight;
            }
        }
        if (wish.weight == 0) {
            wish.weight = idle_weight;
            wish.sum = idle_weight * middles_[at];
        }
        return wish;
    }

    /// Moves each as near to its wish as their order and widths allow, by least squares: neighbours
    /// that would overlap form a block, which goes where they want to be on average.
    void settle(const std::vector<std::uint32_t>& rank, std::vector<std::uint32_t> Slot::* linked) {
        auto blocks = std::vector<Block>{};
        auto offset = 0;
        auto offsets = std::vector<int>{};
        for (auto at = std::size_t{0}; at < rank.size(); ++at) {
            offset += at == 0 ? 0 : apart(rank[at - 1], rank[at]);
            offsets.push_back(offset);
            auto block = wish_of(rank[at], linked);
            block.sum -= block.weight * offset;
            while (!blocks.empty() && blocks.back().mean() >= block.mean()) {
                block.sum += blocks.back().sum;
                block.weight += blocks.back().weight;
                block.count += blocks.back().count;
                blocks.pop_back();
            }
            blocks.push_back(block);
        }
        auto at = std::size_t{0};
        for (const auto& block : blocks) {
            auto base = static_cast<int>(std::lround(block.mean()));
            for (auto left = block.count; left > 0; --left, ++at) {
                middles_[rank[at]] = base + offsets[at];
            }
        }
    }

    /// Puts each line that passes several layers into one column, if its neighbours leave one free.
    void straighten() {
        auto places = std::vector<std::size_t>(layers_.slots.size());
        for (const auto& rank : layers_.ranks) {
            for (auto at = std::size_t{0}; at < rank.size(); ++at) {
                places[rank[at]] = at;
            }
        }
        // The slots of a line stand behind each other.
        for (auto first = std::size_t{0}; first < layers_.slots.size();) {
            auto end = first + 1;
            while (layers_.slots[first].node == none && end < layers_.slots.size() &&
                   layers_.slots[end].source == layers_.slots[first].source) {
                ++end;
            }
            if (end - first > 1) {
                straighten(first, end, places);
            }
            first = end;
        }
    }

    void straighten(std::size_t first, std::size_t end, const std::vector<std::size_t>& places) {
        auto least = INT32_MIN;
        auto most = INT32_MAX;
        for (auto slot = static_cast<std::uint32_t>(first); slot < end; ++slot) {
            const auto& rank = layers_.ranks[layers_.slots[slot].rank];
            auto at = places[slot];
            if (at > 0) {
                least = std::max(least, middles_[rank[at - 1]] + apart(rank[at - 1], slot));
            }
            if (at + 1 < rank.size()) {
                most = std::min(most, middles_[rank[at + 1]] - apart(slot, rank[at + 1]));
            }
        }
        if (least <= most) {
            auto column = std::clamp(middles_[first], least, most);
            std::fill(middles_.begin() + static_cast<std::ptrdiff_t>(first),
                      middles_.begin() + static_cast<std::ptrdiff_t>(end), column);
        }
    }

    void move_to_zero() {
        auto least = INT32_MAX;
        for (auto slot = std::size_t{0}; slot < middles_.size(); ++slot) {
            least = std::min(least, middles_[slot] - (widths_[slot] / 2));
        }
        for (auto& middle : middles_) {
            middle -= least;
        }
    }

    const Layers& layers_;
    std::span<const int> widths_;
    int gap_;
    std::vector<int> middles_;
};

} // namespace

std::vector<int> place(const Layers& layers, std::span<const int> widths, int gap) {
    return Placer{layers, widths, gap}.place();
}

} // namespace sluice::graph::internal

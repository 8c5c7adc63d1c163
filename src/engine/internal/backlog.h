#pragma once

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "engine/input.h"

namespace sluice::engine {

/// Inputs in their order. They are many and large, so a mailbox's whole content is taken over
/// without touching what is in it, whenever nothing is left.
class Backlog {
public:
    bool empty() const { return next_ == inputs_.size(); }
    std::size_t size() const { return inputs_.size() - next_; }
    Input take() { return std::move(inputs_[next_++]); }
    /// Behind those that are there. Leaves `more` empty.
    void add(std::vector<Input>& more) {
        if (empty()) {
            inputs_.clear();
            next_ = 0;
            inputs_.swap(more);
            return;
        }
        if (next_ > inputs_.size() / 2) {
            inputs_.erase(inputs_.begin(), inputs_.begin() + static_cast<std::ptrdiff_t>(next_));
            next_ = 0;
        }
        std::move(more.begin(), more.end(), std::back_inserter(inputs_));
        more.clear();
    }
    std::vector<Input> take_all() {
        inputs_.erase(inputs_.begin(), inputs_.begin() + static_cast<std::ptrdiff_t>(next_));
        next_ = 0;
        return std::exchange(inputs_, {});
    }

private:
    std::vector<Input> inputs_;
    std::size_t next_ = 0; ///< Those before it are taken.
};

} // namespace sluice::engine

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/store.h"

namespace sluice::store {

/// A batch as plain bytes, operation after operation, that can be read back: what the stores
/// without a batch of their own apply, and what the simulated disk holds.
class FlatBatch final : public Batch {
public:
    void put(std::string_view key, std::string_view value) override;
    void remove(std::string_view key) override;
    void remove_range(std::string_view from, std::string_view to) override;
    void fence(const Fence& fence) override;
    std::size_t bytes() const override { return data_.size(); }
    void clear() override;

    std::string_view data() const { return data_; }
    std::span<const Fence> fences() const { return fences_; }

private:
    std::string data_;
    std::vector<Fence> fences_;
};

/// Says the operations of a FlatBatch's data to another batch, in order. Corrupt when the bytes are
/// no such data; what came before the damage has then been said.
Result<void> replay(std::string_view data, Batch& to);

} // namespace sluice::store

#include "event/buffer_pool.h"

#include <mutex>
#include <utility>
#include <vector>

namespace sluice::event {

namespace {

constexpr auto free_bytes_max = std::size_t{4} << 20U;

} // namespace

struct BufferPool::Free {
    std::mutex mutex;
    std::vector<std::string> buffers;
    std::size_t bytes = 0;

    void give_back(std::string buffer) {
        auto lock = std::lock_guard{mutex};
        if (bytes + buffer.capacity() <= free_bytes_max) {
            bytes += buffer.capacity();
            buffers.push_back(std::move(buffer));
        }
    }
};

BufferPool::BufferPool() : free_(std::make_shared<Free>()) {}

std::string BufferPool::take() {
    auto lock = std::lock_guard{free_->mutex};
    if (free_->buffers.empty()) {
        return {};
    }
    auto buffer = std::move(free_->buffers.back());
    free_->buffers.pop_back();
    free_->bytes -= buffer.capacity();
    return buffer;
}

std::shared_ptr<const std::string> BufferPool::lend(std::string buffer) {
    struct Lent {
        std::string buffer;
        std::shared_ptr<Free> free;

        Lent(std::string given, std::shared_ptr<Free> home)
            : buffer(std::move(given)), free(std::move(home)) {}
        ~Lent() { free->give_back(std::move(buffer)); }
    };
    auto lent = std::make_shared<Lent>(std::move(buffer), free_);
    const auto* bytes = &lent->buffer;
    return {std::move(lent), bytes};
}

} // namespace sluice::event

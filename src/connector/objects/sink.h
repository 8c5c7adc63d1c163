#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "connector/objects/buckets.h"
#include "event/sink.h"
#include "reactor/worker_pool.h"

namespace sluice::connector::objects {

/// The functions that state machines reach buckets by: readers and writers of distributed maps, and
/// the calls of S3. Members may be called from any thread.
class Sink final : public event::Sink {
public:
    explicit Sink(std::unique_ptr<Buckets> buckets);
    /// Answers what has not begun with the kind `cancelled`.
    ~Sink() override;

    /// The functions that it is.
    static std::vector<std::string_view> names();
    /// So many calls of each at a time: others wait for their turn.
    static constexpr auto concurrency = std::uint32_t{16};

    bool is_answered_from_outside() const override { return false; }
    void deliver(event::Delivery delivery, Done done) override;
    void cancel(std::string_view /*token*/) override {} // None of them takes long.

private:
    event::Answer answer(const event::Delivery& delivery) const;

    std::unique_ptr<Buckets> buckets_;
    reactor::WorkerPool workers_;
};

} // namespace sluice::connector::objects

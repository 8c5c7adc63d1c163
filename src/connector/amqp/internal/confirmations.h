#pragma once

#include <cstdint>
#include <set>

namespace sluice::connector::amqp::internal {

/// Up to which number a queue may be acknowledged, as commits and duplicates tell it.
class Confirmations {
public:
    /// Each returns the number up to which all are done with.
    std::uint64_t confirm(std::uint64_t number);
    /// This one alone: it was durable before.
    std::uint64_t pass_over(std::uint64_t number);

private:
    std::uint64_t advance();

    std::uint64_t done_ = 0;
    std::set<std::uint64_t> ahead_;
};

} // namespace sluice::connector::amqp::internal

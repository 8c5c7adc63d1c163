#include "connector/amqp/producer.h"

#include "connector/amqp/internal/queue_producer.h"

namespace sluice::connector::amqp {

std::unique_ptr<event::Producer> open_producer(const Options& options,
                                               observe::Diagnostics& diagnostics) {
    return std::make_unique<internal::QueueProducer>(options, diagnostics);
}

} // namespace sluice::connector::amqp

#include "connector/amqp/source.h"

#include "connector/amqp/internal/queue_source.h"

namespace sluice::connector::amqp {

std::unique_ptr<event::Source> open_source(const Options& options,
                                           observe::Diagnostics& diagnostics) {
    return std::make_unique<internal::QueueSource>(options, diagnostics);
}

} // namespace sluice::connector::amqp

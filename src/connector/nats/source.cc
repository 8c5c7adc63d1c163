#include "connector/nats/source.h"

#include "connector/nats/internal/stream_source.h"
#include "connector/nats/internal/subject_source.h"

namespace sluice::connector::nats {

Result<std::unique_ptr<event::Source>> open_source(const SourceOptions& options,
                                                   observe::Diagnostics& diagnostics) {
    if (!options.subject.empty()) {
        return internal::SubjectSource::open(options, diagnostics);
    }
    return internal::StreamSource::open(options, diagnostics);
}

} // namespace sluice::connector::nats

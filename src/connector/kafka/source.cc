#include "connector/kafka/source.h"

#include "connector/kafka/internal/group_source.h"
#include "connector/kafka/internal/position_source.h"

namespace sluice::connector::kafka {

Result<std::unique_ptr<event::Source>> open_source(std::string name, const Options& options,
                                                   observe::Diagnostics& diag) {
    if (options.topics.empty()) {
        return fail(Errc::InvalidInput, "topics: expected the topics to read, found none");
    }
    if (options.consume == Consume::Group) {
        return TRY(internal::GroupSource::open(std::move(name), options, diag));
    }
    return TRY(
        internal::PositionSource::open(std::move(name), options, internal::Scope::Topics, diag));
}

Result<std::unique_ptr<event::Source>> open_partitions(std::string name, const Options& options,
                                                       observe::Diagnostics& diag) {
    return TRY(
        internal::PositionSource::open(std::move(name), options, internal::Scope::Resumed, diag));
}

} // namespace sluice::connector::kafka

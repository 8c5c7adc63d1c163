#include "connector/redis/source.h"

#include "connector/redis/internal/group_source.h"
#include "connector/redis/internal/position_source.h"

namespace sluice::connector::redis {

Result<std::unique_ptr<event::Source>> open_source(const Options& options,
                                                   observe::Diagnostics& diagnostics) {
    if (options.reading == Reading::Group) {
        return std::make_unique<internal::GroupSource>(options, diagnostics);
    }
    return std::make_unique<internal::PositionSource>(options, diagnostics);
}

} // namespace sluice::connector::redis

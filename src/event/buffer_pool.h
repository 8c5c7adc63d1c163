#pragma once

#include <memory>
#include <string>

namespace sluice::event {

/// Memory for chunks, used again when nobody holds the events that lie in it any more: what is
/// given back to the system comes again page by page, at the cost of parsing what lies in it.
///
/// One thread takes and lends; the last owner may be on any.
class BufferPool {
public:
    BufferPool();

    /// With whatever lies in it.
    std::string take();
    /// Comes back when the last owner lets go of it.
    std::shared_ptr<const std::string> lend(std::string buffer);

private:
    struct Free;

    std::shared_ptr<Free> free_;
};

} // namespace sluice::event

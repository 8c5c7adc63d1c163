#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "workflow/asl/objects.h"

namespace sluice::connector::objects {

/// Objects by key. May be used from any thread; all of it blocks.
class Bucket {
public:
    using Listed = workflow::asl::Objects::Listed;

    virtual ~Bucket() = default;
    /// At most so many bytes from an offset on; fewer only at its end. NotFound when there is none.
    virtual Result<std::string> read(const std::string& key, std::uint64_t offset,
                                     std::size_t bytes_max) const = 0;
    /// NotFound when there is none.
    virtual Result<Listed> find(const std::string& key) const = 0;
    /// Those whose keys begin so and come behind another, in the order of their bytes.
    virtual Result<std::vector<Listed>> list(const std::string& prefix, const std::string& after,
                                             std::size_t most) const = 0;
    /// Durable when it returns; readers see the old content or the new, never a part.
    virtual Result<void> write(const std::string& key, std::string_view content) = 0;
};

/// Fails with InvalidInput for what is no key: empty, longer than 1,024 bytes, not UTF-8, with
/// control characters, or with parts that are empty, `.` or `..`.
Result<void> check_key(std::string_view key);

} // namespace sluice::connector::objects

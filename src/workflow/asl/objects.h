#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "value/value.h"

namespace sluice::workflow::asl {

/// Objects by bucket and key: what item readers and result writers of state machines stand on.
class Objects {
public:
    struct Listed {
        std::string key;
        std::uint64_t bytes = 0;
        Time modified{};
        std::string etag{}; ///< Another one for another content, in quotes.
    };

    virtual ~Objects() = default;
    // All fail with NotFound when there is no such object, with Unavailable when there is no such
    // bucket, with Conflict for what may not be done.

    /// At most so many bytes of its content, from an offset on; fewer only at its end.
    virtual Result<std::string> read(const std::string& bucket, const std::string& key,
                                     std::uint64_t offset, std::size_t bytes_max) = 0;
    virtual Result<Listed> find(const std::string& bucket, const std::string& key) = 0;
    /// Those whose keys begin so and come behind another, in their order.
    virtual Result<std::vector<Listed>> list(const std::string& bucket, const std::string& prefix,
                                             const std::string& after, std::size_t most) = 0;
    virtual Result<void> write(const std::string& bucket, const std::string& key,
                               std::string_view content) = 0;
};

/// Objects in memory, for trying machines out.
class ObjectsInMemory final : public Objects {
public:
    /// A list of `{bucket, key, body}`, or null. Fails with InvalidInput.
    static Result<ObjectsInMemory> read_form(const Value& form);

    Result<std::string> read(const std::string& bucket, const std::string& key,
                             std::uint64_t offset, std::size_t bytes_max) override;
    Result<Listed> find(const std::string& bucket, const std::string& key) override;
    Result<std::vector<Listed>> list(const std::string& bucket, const std::string& prefix,
                                     const std::string& after, std::size_t most) override;
    Result<void> write(const std::string& bucket, const std::string& key,
                       std::string_view content) override;

private:
    std::map<std::pair<std::string, std::string>, std::string> contents_;
};

} // namespace sluice::workflow::asl

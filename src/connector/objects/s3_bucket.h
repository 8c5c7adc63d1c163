#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "connector/objects/bucket.h"
#include "http/client.h"
#include "http/signing/signature.h"

namespace sluice::connector::objects {

struct S3Place {
    sluice::http::Url endpoint;
    std::string bucket;
    std::string region;
    std::string access_key; ///< Empty: requests are not signed.
    std::string secret_key;
};

/// A bucket that is reached by the API of S3, named in the path as every server of it understands.
class S3Bucket final : public Bucket {
public:
    /// Client and clock outlive it.
    S3Bucket(S3Place place, sluice::http::Client& client, const Clock& clock)
        : place_(std::move(place)), client_(client), clock_(clock) {}

    Result<std::string> read(const std::string& key, std::uint64_t offset,
                             std::size_t bytes_max) const override;
    Result<Listed> find(const std::string& key) const override;
    Result<std::vector<Listed>> list(const std::string& prefix, const std::string& after,
                                     std::size_t most) const override;
    Result<void> write(const std::string& key, std::string_view content) override;

private:
    /// Again after a pause where the other side asks for it.
    Result<sluice::http::Response> send(sluice::http::Request request,
                                        const std::string& target) const;
    Result<sluice::http::Response> send_once(sluice::http::Request request,
                                             const std::string& target) const;
    std::string target_of(std::string_view key) const;

    S3Place place_;
    sluice::http::Client& client_;
    const Clock& clock_;
};

/// Those that an answer to ListObjectsV2 has. Fails with Unsupported for what is none.
Result<std::vector<Bucket::Listed>> read_listing(std::string_view xml);

} // namespace sluice::connector::objects

#pragma once

#include <string>
#include <vector>

#include "trigger/spec.h"
#include "value/value.h"

namespace sluice::connector::objects {

/// A bucket as the section `buckets` declares it.
struct BucketForm {
    std::string name; ///< `*`: every other.
    std::string directory;
    std::string endpoint; ///< Given: it is reached by the API of S3.
    std::string bucket;   ///< Its name there; empty: the same.
    std::string region = "us-east-1";
    std::string access_key;
    std::string secret_key;              ///< May refer to a secret.
    std::vector<std::string> namespaces; ///< Whose runs may use it; empty: all.
    bool is_read_only = false;

    bool operator==(const BucketForm&) const = default;
};

/// What is wrong is appended, with paths from `buckets` on.
std::vector<BucketForm> read_buckets(const Value& section, std::vector<trigger::Problem>& problems);

} // namespace sluice::connector::objects

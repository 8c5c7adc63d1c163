#pragma once

#include <vector>

#include "connector/http/connection.h"
#include "connector/objects/bucket_form.h"

namespace sluice::app {

/// What state machines reach beside functions, as a file declares it.
struct Integrations {
    std::vector<connector::objects::BucketForm> buckets{};
    std::vector<connector::http::Connection> connections{};
};

} // namespace sluice::app

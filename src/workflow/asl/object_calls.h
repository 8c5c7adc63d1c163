#pragma once

#include <string_view>

#include "event/sink.h"
#include "value/value.h"
#include "workflow/asl/objects.h"

namespace sluice::workflow::asl {

/// Functions that state machines call by these names: `aws-sdk:s3:getObject` and the like.
inline constexpr std::string_view object_functions[] = {
    "aws-sdk:s3:getObject", "aws-sdk:s3:putObject", "aws-sdk:s3:listObjectsV2"};

/// What S3 answers to one of them, or the error that the service makes of its refusal.
event::Answer call_objects(Objects& objects, std::string_view function, const Value& arguments);

} // namespace sluice::workflow::asl

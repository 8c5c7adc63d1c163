#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "event/event.h"

namespace sluice::event {

/// What an object store tells of its objects, as events: `{"Records": […]}` as Amazon S3, MinIO and
/// Ceph send it. Type, subject and data follow the CloudEvents adapter for S3; the id is made of
/// what the record says of the object, so that a notification that comes again is a duplicate.
///
/// The test event that S3 sends when a notification is set up is no event: the list is empty. Fails
/// with InvalidInput, saying which record and why.
Result<std::vector<Event>> read_s3_notification(std::string_view json);

} // namespace sluice::event

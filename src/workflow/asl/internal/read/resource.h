#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "workflow/asl/machine.h"

namespace sluice::workflow::asl::internal {

/// What a `Resource` names.
struct Resource {
    std::string service;
    std::string action{};
    std::string target{};
    Pattern pattern = Pattern::RequestResponse;
    bool has_placeholder = false; ///< `${…}`, which a deployment replaces.
};

/// Nothing when the service would not recognise it.
std::optional<Resource> parse_resource(std::string_view text);

/// Whether tasks of this kind are done here: what is known but not done can be mocked only.
bool is_supported(std::string_view service, std::string_view action);

/// `.sync`, `.waitForTaskToken`; empty for request-response.
std::string_view suffix_of(Pattern pattern);

/// Those of `ItemReader` and `ResultWriter`: `s3:getObject`; empty when it is none.
std::string_view object_action(std::string_view text);

} // namespace sluice::workflow::asl::internal

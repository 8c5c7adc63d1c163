#include <utility>

#include <fmt/format.h>

#include "workflow/asl/internal/read/fields.h"
#include "workflow/asl/internal/read/reading.h"
#include "workflow/asl/internal/read/resource.h"

namespace sluice::workflow::asl::internal {

namespace {

void check_express(const Object& object, const Resource& resource) {
    if (resource.service == "activity") {
        object.refuse("Resource", "Express state machine does not support Activity ARN");
    } else if (resource.pattern != Pattern::RequestResponse) {
        object.refuse("Resource", fmt::format("Express state machine does not support '{}' service "
                                              "integration ",
                                              suffix_of(resource.pattern)));
    }
}

void check_offer(StateSite& site, const Resource& resource, std::string_view text) {
    auto& report = site.reading.report;
    auto place = site.object.at("Resource");
    if (site.is_express) {
        check_express(site.object, resource);
    }
    if (resource.has_placeholder) {
        report.warn(place, fmt::format("'{}' holds a placeholder that nothing has replaced", text),
                    code::placeholder);
    }
    if (is_supported(resource.service, resource.action)) {
        return;
    }
    auto message = fmt::format("The integration '{}:{}' is not done here: it can only be mocked",
                               resource.service, resource.action);
    if (site.reading.options.refuses_unsupported) {
        report.add(place, std::move(message), code::unsupported);
    } else {
        report.warn(place, std::move(message), code::unsupported);
    }
}

/// What CloudFormation puts in, `{"Fn::GetAtt": ["Name", "Arn"]}` or `{"Ref": "Name"}`, stands for
/// `${Name}`.
std::optional<std::string> name_put_in(const Value& form) {
    const auto* name = form.find("Ref");
    if (const auto* attribute = form.find("Fn::GetAtt");
        attribute != nullptr && attribute->is_list() && attribute->size() > 0) {
        name = &attribute->as_list()[0];
    }
    return form.size() == 1 && name != nullptr && name->is_string()
               ? std::optional{fmt::format("${{{}}}", name->as_string())}
               : std::nullopt;
}

std::optional<std::string> resource_text(const Object& task) {
    const auto* value = task.find("Resource");
    auto name = value != nullptr && value->is_map() ? name_put_in(*value) : std::nullopt;
    if (name) {
        return name;
    }
    auto text = task.text("Resource");
    return text ? std::optional{std::string{*text}} : std::nullopt;
}

void read_resource(StateSite& site, TaskState& task) {
    auto text = resource_text(site.object);
    if (!text) {
        return;
    }
    auto resource = parse_resource(*text);
    if (!resource) {
        site.object.refuse("Resource",
                           fmt::format("The resource provided {} is not recognized. The value is "
                                       "not a valid resource ARN, or the resource is not available "
                                       "in this region.",
                                       *text));
        return;
    }
    check_offer(site, *resource, *text);
    task.resource = *std::move(text);
    task.service = std::move(resource->service);
    task.action = std::move(resource->action);
    task.target = std::move(resource->target);
    task.pattern = resource->pattern;
}

void read_credentials(StateSite& site, TaskState& task) {
    auto credentials = site.object.object("Credentials");
    if (!credentials) {
        return;
    }
    // What else than the service's own resources wants is not known.
    auto is_known = task.resource.starts_with("arn:") &&
                    (task.resource.contains(":lambda:") || task.resource.contains(":states:"));
    auto has_role = !is_known || credentials->has("RoleArn") ||
                    (site.language() == Language::JsonPath && credentials->has("RoleArn.$"));
    if (!has_role) {
        credentials->refuse_all("The field 'RoleArn' is required but was missing");
        return;
    }
    task.credentials = read_template(site.object, "Credentials", {.language = site.language()});
}

} // namespace

TaskState read_task(StateSite& site) {
    auto task = TaskState{};
    const auto& object = site.object;
    object.require({"Resource"});
    read_resource(site, task);
    read_credentials(site, task);
    task.timeout_seconds = read_number(
        object, site.language(),
        {.name = "TimeoutSeconds", .path_name = "TimeoutSecondsPath", .range = {.min = 1}});
    task.heartbeat_seconds = read_number(
        object, site.language(),
        {.name = "HeartbeatSeconds", .path_name = "HeartbeatSecondsPath", .range = {.min = 1}});
    const auto* timeout = std::get_if<std::int64_t>(&task.timeout_seconds.source);
    const auto* heartbeat = std::get_if<std::int64_t>(&task.heartbeat_seconds.source);
    if (timeout != nullptr && heartbeat != nullptr && *heartbeat >= *timeout) {
        object.refuse("HeartbeatSeconds",
                      fmt::format("The field 'HeartbeatSeconds' must be smaller than "
                                  "'TimeoutSeconds', which is {}",
                                  *timeout));
    }
    return task;
}

} // namespace sluice::workflow::asl::internal

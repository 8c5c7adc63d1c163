#include "workflow/asl/result_files.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "value/json.h"
#include "value/wording.h"

namespace sluice::workflow::asl {

namespace {

using value::text_at;

/// As `Transformation` says: what the service tells of each child, outputs alone, or lists among
/// them made one.
std::vector<Value> transformed(const Value& results, std::string_view how) {
    auto made = std::vector<Value>{};
    for (const auto& output : results.as_list()) {
        if (how == "FLATTEN" && output.is_list()) {
            made.insert(made.end(), output.as_list().begin(), output.as_list().end());
        } else if (how == "FLATTEN" || how == "COMPACT") {
            made.push_back(output);
        } else {
            made.push_back(Value::object({{"Output", value::to_json(output)},
                                          {"OutputDetails", Value::object({{"Included", true}})},
                                          {"Status", "SUCCEEDED"}}));
        }
    }
    return made;
}

} // namespace

Result<Value> write_results(Objects& objects, const Value& request) {
    const auto& arguments = *request.find("arguments");
    auto bucket = text_at(arguments, "Bucket");
    auto prefix = text_at(arguments, "Prefix");
    if (!prefix.empty() && !prefix.ends_with('/')) {
        prefix += '/';
    }
    prefix += text_at(request, "name") + "/";
    const auto& config = *request.find("config");
    auto is_lines = text_at(config, "OutputType") == "JSONL";
    auto values = transformed(*request.find("results"), text_at(config, "Transformation"));
    auto content = std::string{};
    if (is_lines) {
        for (const auto& each : values) {
            content += value::to_json(each) + "\n";
        }
    } else {
        content = value::to_json(Value::list(std::move(values)));
    }
    auto key = fmt::format("{}SUCCEEDED_0.{}", prefix, is_lines ? "jsonl" : "json");
    TRY(objects.write(bucket, key, content));
    auto nothing = Value::list({});
    auto file = Value::object({{"Key", key}, {"Size", static_cast<std::int64_t>(content.size())}});
    auto manifest =
        Value::object({{"DestinationBucket", bucket},
                       {"MapRunArn", text_at(request, "mapRunArn")},
                       {"ResultFiles", Value::object({{"FAILED", nothing},
                                                      {"PENDING", nothing},
                                                      {"SUCCEEDED", Value::list({file})}})}});
    TRY(objects.write(bucket, prefix + "manifest.json", value::to_json(manifest)));
    return Value::object({{"Bucket", bucket}, {"Key", prefix + "manifest.json"}});
}

} // namespace sluice::workflow::asl

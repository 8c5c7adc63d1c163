#include "workflow/asl/internal/test/mock_shapes.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/invariant.h"
#include "value/json.h"

namespace sluice::workflow::asl::internal {

namespace {

/// What APIs answer, as far as it is checked. A type is `string`, `number`, `boolean`, `any`, a
/// list with the type of its items, a map of members, or a map with `$type` and `$min`, `$max` (of
/// the number, or of the characters) and `$enum`. A member with `!` is always there; `*` stands for
/// all other names.
constexpr std::pair<std::string_view, std::string_view> shapes[] = {
    {"states:startExecution", R"({"ExecutionArn!": "string", "StartDate!": "string"})"},
    {"states:startExecution.sync",
     R"({"ExecutionArn!": "string", "StartDate!": "string", "StateMachineArn!": "string",
         "Status!": {"$type": "string", "$enum": ["RUNNING", "SUCCEEDED", "FAILED", "TIMED_OUT",
                     "ABORTED", "PENDING_REDRIVE"]},
         "Name": "string", "StopDate": "string", "Error": "string", "Cause": "string"})"},
    {"lambda:invoke",
     R"({"StatusCode": "number", "FunctionError": "string", "LogResult": "string",
         "ExecutedVersion": {"$type": "string", "$min": 1, "$max": 1024}, "Payload": "any"})"},
    {"lambda:getFunction",
     R"({"Configuration": {"FunctionName": "string", "FunctionArn": "string", "Runtime": "string",
             "Role": "string", "Handler": "string", "CodeSize": "number",
             "Description": {"$type": "string", "$max": 256},
             "Timeout": {"$type": "number", "$min": 1},
             "MemorySize": {"$type": "number", "$min": 128, "$max": 10240},
             "LastModified": "string", "CodeSha256": "string",
             "Version": {"$type": "string", "$min": 1, "$max": 1024},
             "PackageType": {"$type": "string", "$enum": ["Zip", "Image"]},
             "Environment": {"Variables": {"*": "string"}},
             "State": {"$type": "string", "$enum": ["Pending", "Active", "Inactive", "Failed"]}},
         "Code": {"RepositoryType": "string", "Location": "string", "ImageUri": "string"},
         "Tags": {"*": "string"},
         "Concurrency": {"ReservedConcurrentExecutions": {"$type": "number", "$min": 0}}})"},
    {"s3:getObject",
     R"({"Body": "any", "DeleteMarker": "boolean", "AcceptRanges": "string", "Expiration": "string",
         "LastModified": "string", "ContentLength": "number", "ETag": "string",
         "MissingMeta": "number", "VersionId": "string", "CacheControl": "string",
         "ContentType": "string", "ContentEncoding": "string", "ContentRange": "string",
         "Metadata": {"*": "string"}, "PartsCount": "number", "TagCount": "number",
         "ServerSideEncryption": {"$type": "string",
             "$enum": ["AES256", "aws:fsx", "aws:kms", "aws:kms:dsse"]},
         "StorageClass": {"$type": "string", "$enum": ["STANDARD", "REDUCED_REDUNDANCY",
             "STANDARD_IA", "ONEZONE_IA", "INTELLIGENT_TIERING", "GLACIER", "DEEP_ARCHIVE",
             "OUTPOSTS", "GLACIER_IR", "SNOW", "EXPRESS_ONEZONE", "FSX_OPENZFS", "FSX_ONTAP"]}})"},
    {"s3:putObject",
     R"({"Expiration": "string", "ETag": "string", "VersionId": "string", "Size": "number",
         "BucketKeyEnabled": "boolean"})"},
    {"s3:listObjectsV2",
     R"({"IsTruncated": "boolean", "Name": "string", "Prefix": "string", "Delimiter": "string",
         "MaxKeys": "number", "KeyCount": "number", "ContinuationToken": "string",
         "NextContinuationToken": "string", "StartAfter": "string",
         "Contents": [{"Key": {"$type": "string", "$min": 1}, "LastModified": "string",
             "ETag": "string", "Size": "number", "StorageClass": "string"}],
         "CommonPrefixes": [{"Prefix": "string"}]})"},
    {"dynamodb:getItem",
     R"({"Item": {"*": "any"}, "ConsumedCapacity": {"TableName": "string",
         "CapacityUnits": "number", "ReadCapacityUnits": "number",
         "WriteCapacityUnits": "number"}})"},
    {"dynamodb:putItem",
     R"({"Attributes": {"*": "any"}, "ConsumedCapacity": {"TableName": "string",
         "CapacityUnits": "number", "ReadCapacityUnits": "number", "WriteCapacityUnits": "number"},
         "ItemCollectionMetrics": {"ItemCollectionKey": {"*": "any"},
             "SizeEstimateRangeGB": ["number"]}})"},
    {"events:putEvents",
     R"({"FailedEntryCount": "number",
         "Entries": [{"EventId": "string", "ErrorCode": "string", "ErrorMessage": "string"}]})"},
    {"sqs:sendMessage",
     R"({"MD5OfMessageBody": "string", "MD5OfMessageAttributes": "string",
         "MD5OfMessageSystemAttributes": "string", "MessageId": "string",
         "SequenceNumber": "string"})"},
    {"sns:publish", R"({"MessageId": "string", "SequenceNumber": "string"})"},
    {"kms:encrypt",
     R"({"CiphertextBlob": {"$type": "string", "$min": 1, "$max": 6144},
         "KeyId": {"$type": "string", "$min": 1, "$max": 2048}, "EncryptionAlgorithm": "string"})"},
    {"kms:decrypt",
     R"({"Plaintext": {"$type": "string", "$min": 1, "$max": 4096},
         "KeyId": {"$type": "string", "$min": 1, "$max": 2048}, "EncryptionAlgorithm": "string"})"},
    {"batch:submitJob", R"({"JobArn": "string", "JobName!": "string", "JobId!": "string"})"},
    {"sfn:startExecution", R"({"ExecutionArn!": "string", "StartDate!": "string"})"},
};

using Shapes = std::map<std::string_view, Value, std::less<>>;

const Shapes& parsed_shapes() {
    static const auto all = [] {
        auto parsed = Shapes{};
        for (const auto& [name, text] : shapes) {
            auto shape = value::parse_json(text);
            INVARIANT(shape.has_value(), "the shapes above are JSON");
            parsed.emplace(name, *std::move(shape));
        }
        // They answer alike.
        parsed.emplace("dynamodb:updateItem", parsed.at("dynamodb:putItem"));
        parsed.emplace("dynamodb:deleteItem", parsed.at("dynamodb:putItem"));
        return parsed;
    }();
    return all;
}

std::string key_of(const TaskState& task) {
    auto service = std::string_view{task.service};
    if (service.starts_with("aws-sdk:")) {
        service.remove_prefix(8);
    }
    auto is_sync = task.pattern == Pattern::Sync || task.pattern == Pattern::Sync2;
    return fmt::format("{}:{}{}", service, task.action, is_sync ? ".sync" : "");
}

/// What is wrong with a value, as the end of a sentence about the field; empty: nothing.
std::string fault_of_type(std::string_view type, const Value& value) {
    if (type == "string" && !value.is_string()) {
        return "must be a string";
    }
    if (type == "number" && !value.is_number()) {
        return "must be a number";
    }
    if (type == "boolean" && !value.is_bool()) {
        return "must be a boolean";
    }
    return "";
}

double amount_of(const Value& value) {
    return value.is_int()      ? static_cast<double>(value.as_int())
           : value.is_double() ? value.as_double()
           : value.is_uint()   ? static_cast<double>(value.as_uint())
                               : static_cast<double>(value.size());
}

std::string fault_of_bounds(const Value& shape, const Value& value) {
    const auto* least = shape.find("$min");
    const auto* most = shape.find("$max");
    const auto* choices = shape.find("$enum");
    if (least != nullptr && amount_of(value) < amount_of(*least)) {
        return value.is_string() ? "is smaller than the minimum length"
                                 : "is less than the minimum value";
    }
    if (most != nullptr && amount_of(value) > amount_of(*most)) {
        return value.is_string() ? "exceeds the maximum length" : "exceeds the maximum value";
    }
    if (choices != nullptr &&
        std::ranges::find(choices->as_list(), value) == choices->as_list().end()) {
        return "is not an expected value";
    }
    return "";
}

class MockCheck {
public:
    explicit MockCheck(TestMock::Validation validation) : validation_(validation) {}

    /// A whole sentence; empty: nothing is wrong.
    std::string fault(std::string_view name, const Value& shape, const Value& value) const {
        auto about = [&](const std::string& end) {
            return end.empty() ? end : fmt::format("Field '{}' {}", name, end);
        };
        if (shape.is_string()) {
            return about(fault_of_type(shape.as_string(), value));
        }
        if (shape.is_list()) {
            return value.is_list() ? fault_in_items(name, shape.as_list().front(), value)
                                   : about("must be an array");
        }
        if (const auto* type = shape.find("$type")) {
            auto end = fault_of_type(type->as_string(), value);
            return about(end.empty() ? fault_of_bounds(shape, value) : end);
        }
        return value.is_map() ? fault_in_members(shape, value) : about("must be an object");
    }

private:
    std::string fault_in_items(std::string_view name, const Value& shape, const Value& list) const {
        for (const auto& item : list.as_list()) {
            if (auto found = fault(name, shape, item); !found.empty()) {
                return found;
            }
        }
        return "";
    }

    std::string fault_in_members(const Value& shape, const Value& map) const {
        for (const auto& [written, member] : shape.as_map()) {
            auto is_required = written.ends_with('!');
            auto name = is_required ? written.substr(0, written.size() - 1) : written;
            if (name == "*") {
                for (const auto& [key, value] : map.as_map()) {
                    if (auto found = fault(key, member, value); !found.empty()) {
                        return found;
                    }
                }
                continue;
            }
            const auto* value = map.find(name);
            if (value == nullptr && is_required && validation_ == TestMock::Validation::Strict) {
                return fmt::format("Required field '{}' is missing", name);
            }
            auto found =
                value == nullptr || value->is_null() ? std::string{} : fault(name, member, *value);
            if (!found.empty()) {
                return found;
            }
        }
        return "";
    }

    TestMock::Validation validation_;
};

} // namespace

std::string mock_fault(const TaskState& task, const Value& result,
                       TestMock::Validation validation) {
    auto shape = parsed_shapes().find(key_of(task));
    if (validation == TestMock::Validation::None || shape == parsed_shapes().end() ||
        task.action == "function") {
        return "";
    }
    auto fault = MockCheck{validation}.fault("result", shape->second, result);
    return fault.empty() ? fault : "Mock result schema validation error: " + fault;
}

} // namespace sluice::workflow::asl::internal

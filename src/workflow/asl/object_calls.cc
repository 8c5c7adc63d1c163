#include "workflow/asl/object_calls.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "value/json.h"
#include "value/time_text.h"
#include "value/wording.h"

namespace sluice::workflow::asl {

namespace {

using value::text_at;

// A payload may have no more; one byte beyond tells that it has.
constexpr auto body_bytes_max = std::size_t{262'145};
constexpr auto keys_max = std::int64_t{1'000};
// Behind every key that a folder has.
constexpr auto last_sign = std::string_view{"\U0010FFFF"};

std::string_view name_of(Errc code) {
    switch (code) {
        case Errc::NotFound: return "NoSuchKeyException";
        case Errc::Unavailable: return "NoSuchBucketException";
        default: return "S3Exception";
    }
}

/// As the service words what its SDK throws.
event::Answer refusal(const Error& error) {
    auto status = error.code == Errc::Conflict                                      ? 403
                  : error.code == Errc::InvalidInput                                ? 400
                  : error.code == Errc::NotFound || error.code == Errc::Unavailable ? 404
                                                                                    : 500;
    return event::failure(fmt::format("S3.{}", name_of(error.code)),
                          fmt::format("{} (Service: S3, Status Code: {})", error.message, status));
}

Result<Value> get_object(Objects& objects, const Value& arguments) {
    auto bucket = text_at(arguments, "Bucket");
    auto key = text_at(arguments, "Key");
    auto about = TRY(objects.find(bucket, key));
    auto body = TRY(objects.read(bucket, key, 0, body_bytes_max));
    return Value::object({{"AcceptRanges", "bytes"},
                          {"ContentLength", static_cast<std::int64_t>(about.bytes)},
                          {"ContentType", "binary/octet-stream"},
                          {"ETag", about.etag},
                          {"LastModified", value::format_time(about.modified)},
                          {"Metadata", Value::map({})},
                          {"Body", replace_invalid_utf8(body)}});
}

Result<Value> put_object(Objects& objects, const Value& arguments) {
    auto bucket = text_at(arguments, "Bucket");
    auto key = text_at(arguments, "Key");
    const auto* body = arguments.find("Body");
    auto content = body == nullptr     ? std::string{}
                   : body->is_string() ? std::string{body->as_string()}
                                       : value::to_json(*body);
    TRY(objects.write(bucket, key, content));
    auto about = TRY(objects.find(bucket, key));
    return Value::object({{"ETag", about.etag}});
}

Value listed_view(const Objects::Listed& each) {
    return Value::object({{"ETag", each.etag},
                          {"Key", each.key},
                          {"LastModified", value::format_time(each.modified)},
                          {"Size", static_cast<std::int64_t>(each.bytes)},
                          {"StorageClass", "STANDARD"}});
}

/// What stands for a key where those up to a delimiter are one; empty: it stands for itself.
std::string folder_of(std::string_view key, std::string_view prefix, std::string_view delimiter) {
    auto at = delimiter.empty() ? std::string_view::npos : key.find(delimiter, prefix.size());
    return at == std::string_view::npos ? "" : std::string{key.substr(0, at + delimiter.size())};
}

Result<Value> list_objects(Objects& objects, const Value& arguments) {
    auto bucket = text_at(arguments, "Bucket");
    auto prefix = text_at(arguments, "Prefix");
    auto delimiter = text_at(arguments, "Delimiter");
    const auto* asked = arguments.find("MaxKeys");
    auto most = asked != nullptr && asked->is_int()
                    ? std::clamp<std::int64_t>(asked->as_int(), 0, keys_max)
                    : keys_max;
    auto token = base64_decode(text_at(arguments, "ContinuationToken"));
    auto after = std::max(token.value_or(""), text_at(arguments, "StartAfter"));
    auto contents = std::vector<Value>{};
    auto folders = std::vector<Value>{};
    auto room = static_cast<std::size_t>(most);
    // One more than there is room for tells whether more follow.
    auto listed = TRY(objects.list(bucket, prefix, after, room + 1));
    while (!listed.empty() && contents.size() + folders.size() < room) {
        for (const auto& each : listed) {
            auto folder = folder_of(each.key, prefix, delimiter);
            if (contents.size() + folders.size() == room) {
                break;
            }
            after = folder.empty() ? each.key : folder + std::string{last_sign};
            if (!folder.empty()) {
                folders.push_back(Value::object({{"Prefix", folder}}));
                break; // The rest of it is passed over.
            }
            contents.push_back(listed_view(each));
        }
        listed = TRY(objects.list(bucket, prefix, after, room + 1));
    }
    auto is_more = !listed.empty() && room > 0;
    auto count = static_cast<std::int64_t>(contents.size() + folders.size());
    auto answer = Value::object({{"Contents", Value::list(std::move(contents))},
                                 {"IsTruncated", is_more},
                                 {"KeyCount", count},
                                 {"MaxKeys", most},
                                 {"Name", bucket},
                                 {"Prefix", prefix}});
    if (!delimiter.empty()) {
        answer = answer.with("Delimiter", delimiter)
                     .with("CommonPrefixes", Value::list(std::move(folders)));
    }
    return is_more ? answer.with("NextContinuationToken", base64_encode(after)) : answer;
}

} // namespace

event::Answer call_objects(Objects& objects, std::string_view function, const Value& arguments) {
    auto action = function.substr(function.rfind(':') + 1);
    auto made = action == "getObject"   ? get_object(objects, arguments)
                : action == "putObject" ? put_object(objects, arguments)
                                        : list_objects(objects, arguments);
    return made ? event::Answer{.result = *std::move(made)} : refusal(made.error());
}

} // namespace sluice::workflow::asl

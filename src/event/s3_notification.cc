#include "event/s3_notification.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/fingerprint.h"
#include "base/utf8.h"
#include "event/builder.h"
#include "event/codec.h"
#include "value/json.h"

namespace sluice::event {

namespace {

constexpr auto records_max = std::size_t{1'000};

/// The text under these member names; empty when it is not there.
std::string text_at(const Value& record, std::span<const std::string_view> path) {
    const auto* value = &record;
    for (auto name : path) {
        value = value->find(name);
        if (value == nullptr) {
            return "";
        }
    }
    return value->is_string() ? std::string{value->as_string()} : "";
}

std::string text_at(const Value& record, std::initializer_list<std::string_view> path) {
    return text_at(record, std::span{path.begin(), path.size()});
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    auto lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Keys are encoded as in a query, `+` for a space. One that is not is taken as it stands.
std::string decode_key(const std::string& encoded) {
    auto key = std::string{};
    for (auto at = std::size_t{0}; at < encoded.size(); ++at) {
        if (encoded[at] != '%') {
            key += encoded[at] == '+' ? ' ' : encoded[at];
            continue;
        }
        auto high = at + 2 < encoded.size() ? hex_digit(encoded[at + 1]) : -1;
        auto low = at + 2 < encoded.size() ? hex_digit(encoded[at + 2]) : -1;
        if (high < 0 || low < 0) {
            return encoded;
        }
        key += static_cast<char>((high << 4) | low);
        at += 2;
    }
    return is_utf8(key) ? key : encoded;
}

/// `ObjectCreated:Put`, with `s3:` before it where the store is MinIO or Ceph.
std::string type_of(std::string_view name) {
    constexpr auto minio_prefix = std::string_view{"s3:"};
    if (name.starts_with(minio_prefix)) {
        name.remove_prefix(minio_prefix.size());
    }
    auto type = std::string{"com.amazonaws.s3."};
    std::ranges::transform(name, std::back_inserter(type), [](char c) {
        return c == ':' ? '.' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    return type;
}

/// The same for the same change of the same object, however often it is told.
std::string id_of(const Value& record, const std::string& type, const std::string& key) {
    auto change = std::string{};
    for (const auto* name : {"sequencer", "versionId", "eTag"}) {
        change += text_at(record, {"s3", "object", name}) + '\n';
    }
    // Some stores number nothing; the time then tells two changes apart.
    if (text_at(record, {"s3", "object", "sequencer"}).empty()) {
        change += text_at(record, {"eventTime"});
    }
    auto print = fingerprint(type + '\n' + key, change);
    return fmt::format("{:016x}{:016x}", print.high, print.low);
}

Result<Event> read_record(Codec& codec, const Value& record) {
    auto name = text_at(record, {"eventName"});
    auto bucket = text_at(record, {"s3", "bucket", "name"});
    auto key = decode_key(text_at(record, {"s3", "object", "key"}));
    if (name.empty() || bucket.empty() || key.empty()) {
        return fail(Errc::InvalidInput, "expected eventName, s3.bucket.name and s3.object.key");
    }
    auto type = type_of(name);
    auto store = text_at(record, {"eventSource"});
    auto region = text_at(record, {"awsRegion"});
    auto source = fmt::format("{}.{}.{}", store.empty() ? "aws:s3" : store, region, bucket);
    auto builder = Builder{id_of(record, type, key), source, type};
    builder.subject(key).attribute("datacontenttype", "application/json").data(record);
    if (auto time = text_at(record, {"eventTime"}); !time.empty()) {
        builder.attribute("time", time);
    }
    // What came from outside may break a rule of CloudEvents, such as a bucket that no URI can
    // name.
    return codec.parse(builder.build().json());
}

} // namespace

Result<std::vector<Event>> read_s3_notification(std::string_view json) {
    auto notification = TRY(value::parse_json(json));
    const auto* records = notification.find("Records");
    if (records == nullptr && text_at(notification, {"Event"}) == "s3:TestEvent") {
        return std::vector<Event>{};
    }
    if (records == nullptr || !records->is_list()) {
        return fail(Errc::InvalidInput, "expected a notification of S3: {{\"Records\": […]}}");
    }
    if (records->size() > records_max) {
        return fail(Errc::LimitExceeded, "{} records: expected at most {}", records->size(),
                    records_max);
    }
    auto codec = Codec{};
    auto events = std::vector<Event>{};
    for (const auto& record : records->as_list()) {
        auto event = read_record(codec, record);
        if (!event) {
            return fail(event.error().code, "Records[{}]: {}", events.size(),
                        event.error().message);
        }
        events.push_back(*std::move(event));
    }
    return events;
}

} // namespace sluice::event

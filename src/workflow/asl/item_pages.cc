#include "workflow/asl/item_pages.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "value/json.h"
#include "value/time_text.h"
#include "value/wording.h"
#include "workflow/asl/internal/run/json_items.h"
#include "workflow/asl/internal/run/rows.h"

namespace sluice::workflow::asl {

namespace {

constexpr auto page_items_max = std::size_t{1'000};
constexpr auto chunk_bytes = std::size_t{1} << 20U;
constexpr auto row_bytes_max = std::size_t{8} << 20U;
constexpr auto manifest_bytes_max = std::size_t{8} << 20U;

using value::text_at;

std::uint64_t count_in(const Value& map, std::string_view name) {
    const auto* found = map.find(name);
    return found != nullptr && found->is_int() ? static_cast<std::uint64_t>(found->as_int()) : 0;
}

Value member(const Value& map, std::string_view name) {
    const auto* found = map.find(name);
    return found == nullptr ? Value{} : *found;
}

Value page(std::vector<Value> items, Value cursor) {
    auto made = Value::object({{"items", Value::list(std::move(items))}});
    return cursor.is_null() ? made : made.with("cursor", std::move(cursor));
}

/// How many items this page may have.
std::size_t room(const Value& request) {
    auto most = count_in(request, "most");
    return most == 0 ? page_items_max : std::min<std::size_t>(page_items_max, most);
}

std::vector<std::string> texts_of(const Value& list) {
    auto texts = std::vector<std::string>{};
    for (const auto& each : list.as_list()) {
        texts.push_back(each.is_string() ? std::string{each.as_string()} : value::to_json(each));
    }
    return texts;
}

Result<char> delimiter_of(const Value& config) {
    auto name = text_at(config, "CSVDelimiter");
    for (auto [known, sign] : {std::pair{"", ','},
                               {"COMMA", ','},
                               {"PIPE", '|'},
                               {"SEMICOLON", ';'},
                               {"SPACE", ' '},
                               {"TAB", '\t'}}) {
        if (name == known) {
            return sign;
        }
    }
    return fail(Errc::InvalidInput,
                "CSVDelimiter is {}: expected COMMA, PIPE, SEMICOLON, SPACE or TAB", name);
}

} // namespace

Result<std::string> ItemPages::whole(const std::string& bucket, const std::string& key) {
    auto content = TRY(objects_.read(bucket, key, 0, manifest_bytes_max + 1));
    if (content.size() > manifest_bytes_max) {
        return fail(Errc::LimitExceeded, "{}/{} has more than {} bytes: expected a manifest",
                    bucket, key, manifest_bytes_max);
    }
    return content;
}

Result<Value> ItemPages::read(const Value& request) {
    auto config = member(request, "config");
    if (text_at(request, "resource").ends_with("listObjectsV2")) {
        return text_at(config, "Transformation") == "LOAD_AND_FLATTEN"
                   ? read_listed(request, config)
                   : read_list(request);
    }
    auto type = text_at(config, "InputType");
    if (type.empty() || type == "JSON") {
        return read_json(request, config);
    }
    if (type == "PARQUET") {
        return fail(Errc::Unsupported, "Parquet files cannot be read here: convert them to JSONL");
    }
    return read_parts(TRY(parts_of(member(request, "arguments"), config)), request);
}

Result<Value> ItemPages::read_json(const Value& request, const Value& config) {
    auto arguments = member(request, "arguments");
    auto document = internal::run::JsonItems{
        [&, bucket = text_at(arguments, "Bucket"), key = text_at(arguments, "Key")](
            std::uint64_t offset) { return objects_.read(bucket, key, offset, chunk_bytes); }};
    auto cursor = member(request, "cursor");
    auto from = count_in(cursor, "offset");
    if (cursor.is_null()) {
        TRY(document.seek(text_at(config, "ItemsPointer")));
    } else {
        document.resume(from, cursor.find("pairs") != nullptr);
    }
    auto items = std::vector<Value>{};
    auto most = room(request);
    auto is_more = true;
    while (is_more && items.size() < most && document.offset() - from < chunk_bytes) {
        auto item = TRY(document.next());
        is_more = item.has_value();
        if (item) {
            items.push_back(*std::move(item));
        }
    }
    auto next = Value::object({{"offset", static_cast<std::int64_t>(document.offset())}});
    next = document.is_object() ? next.with("pairs", true) : next;
    auto made = page(std::move(items), is_more ? next : Value{});
    return document.is_object() ? made.with("pairs", true) : made;
}

Result<Value> ItemPages::read_list(const Value& request) {
    auto arguments = member(request, "arguments");
    auto after = text_at(member(request, "cursor"), "after");
    auto most = room(request);
    auto listed = TRY(objects_.list(text_at(arguments, "Bucket"), text_at(arguments, "Prefix"),
                                    std::max(after, text_at(arguments, "StartAfter")), most));
    auto items = std::vector<Value>{};
    for (const auto& each : listed) {
        auto seconds = std::chrono::floor<std::chrono::seconds>(each.modified.time_since_epoch());
        items.push_back(Value::object({{"Etag", each.etag},
                                       {"Key", each.key},
                                       {"LastModified", std::int64_t{seconds.count()}},
                                       {"Size", static_cast<std::int64_t>(each.bytes)},
                                       {"StorageClass", "STANDARD"}}));
    }
    auto cursor = listed.size() == most ? Value::object({{"after", listed.back().key}}) : Value{};
    return page(std::move(items), std::move(cursor));
}

Result<Value> ItemPages::read_listed(const Value& request, const Value& config) {
    auto arguments = member(request, "arguments");
    auto bucket = text_at(arguments, "Bucket");
    auto key = text_at(member(request, "cursor"), "key");
    auto within = member(member(request, "cursor"), "within");
    if (within.is_null()) {
        auto listed = TRY(objects_.list(bucket, text_at(arguments, "Prefix"),
                                        std::max(key, text_at(arguments, "StartAfter")), 1));
        if (listed.empty()) {
            return page({}, {});
        }
        key = listed.front().key;
    }
    auto inner = request.with("resource", "getObject")
                     .with("config", config.without("Transformation"))
                     .with("arguments", Value::object({{"Bucket", bucket}, {"Key", key}}));
    inner = within.is_null() ? inner.without("cursor") : inner.with("cursor", within);
    auto made = TRY(read(inner));
    auto next = Value::object({{"key", key}});
    if (const auto* cursor = made.find("cursor")) {
        next = next.with("within", *cursor);
    }
    return made.with("cursor", next);
}

Result<std::vector<ItemPages::Part>> ItemPages::parts_of(const Value& arguments,
                                                         const Value& config) {
    auto first = Part{.bucket = text_at(arguments, "Bucket"), .key = text_at(arguments, "Key")};
    auto type = text_at(config, "InputType");
    first.is_csv = type != "JSONL";
    first.delimiter = TRY(delimiter_of(config));
    if (auto headers = member(config, "CSVHeaders"); headers.is_list()) {
        first.headers = texts_of(headers);
        if (std::set<std::string>(first.headers.begin(), first.headers.end()).size() !=
            first.headers.size()) {
            return fail(Errc::InvalidInput, "CSV headers cannot contain duplicates.");
        }
    }
    if (type != "MANIFEST") {
        return std::vector{std::move(first)};
    }
    auto text = TRY(whole(first.bucket, first.key));
    auto parts = std::vector<Part>{};
    if (text_at(config, "ManifestType") == "ATHENA_DATA") {
        // A line is s3://BUCKET/KEY, in quotes or not.
        for (const auto& row : internal::run::split_rows(text, ',')) {
            auto uri = row.empty() ? std::string{} : row.front();
            if (!uri.starts_with("s3://") || uri.find('/', 5) == std::string::npos) {
                return fail(Errc::InvalidInput, "the manifest has \"{}\": expected s3://BUCKET/KEY",
                            uri);
            }
            auto slash = uri.find('/', 5);
            auto part = first;
            part.bucket = uri.substr(5, slash - 5);
            part.key = uri.substr(slash + 1);
            part.is_csv = !part.key.ends_with(".json") && !part.key.ends_with(".jsonl");
            parts.push_back(std::move(part));
        }
        return parts;
    }
    auto manifest = TRY(value::parse_json(text));
    auto files = member(manifest, "files");
    if (!files.is_list()) {
        return fail(Errc::InvalidInput,
                    "the manifest has no files: expected those of an inventory");
    }
    auto schema = internal::run::split_rows(text_at(manifest, "fileSchema") + "\n", ',');
    for (const auto& file : files.as_list()) {
        auto part = first;
        part.key = text_at(file, "key");
        if (part.key.ends_with(".gz")) {
            return fail(Errc::Unsupported, "{} is compressed: unpack it, and name it without .gz",
                        part.key);
        }
        for (const auto& name : schema.empty() ? std::vector<std::string>{} : schema.front()) {
            part.headers.push_back(name.substr(std::min(name.find_first_not_of(' '), name.size())));
        }
        parts.push_back(std::move(part));
    }
    return parts;
}

Result<Value> ItemPages::read_parts(const std::vector<Part>& parts, const Value& request) {
    auto cursor = member(request, "cursor");
    auto at = count_in(cursor, "part");
    auto offset = count_in(cursor, "offset");
    auto headers = member(cursor, "headers");
    auto items = std::vector<Value>{};
    auto most = room(request);
    auto taken = std::size_t{0};
    auto bytes = chunk_bytes;
    while (at < parts.size() && items.size() < most && taken < chunk_bytes) {
        const auto& part = parts[at];
        auto chunk = TRY(objects_.read(part.bucket, part.key, offset, bytes));
        auto rows = internal::run::RowReader{chunk, part.delimiter, chunk.size() < bytes};
        if (part.is_csv && offset == 0) {
            auto names = part.headers.empty() ? rows.next_row() : std::optional{part.headers};
            headers = Value::list({});
            if (names) {
                headers = Value::list(std::vector<Value>(names->begin(), names->end()));
            }
        }
        auto names = headers.is_list() ? texts_of(headers) : std::vector<std::string>{};
        auto begun = items.size();
        while (items.size() < most) {
            auto item = part.is_csv ? rows.next_item(names) : rows.next_document();
            if (!item) {
                return fail(Errc::InvalidInput, "{}", item.error().message);
            }
            if (!*item) {
                break;
            }
            items.push_back(**std::move(item));
        }
        offset += rows.offset();
        taken += rows.offset();
        auto is_end = rows.is_last() && rows.offset() >= chunk.size();
        if (is_end) {
            ++at;
            offset = 0;
        } else if (items.size() == begun && rows.offset() == 0 && bytes < row_bytes_max) {
            bytes = row_bytes_max; // A long row.
        } else if (items.size() == begun && rows.offset() == 0) {
            return fail(Errc::LimitExceeded, "a row of {} has more than {} bytes", part.key, bytes);
        }
    }
    if (at >= parts.size()) {
        return page(std::move(items), {});
    }
    return page(std::move(items), Value::object({{"part", static_cast<std::int64_t>(at)},
                                                 {"offset", static_cast<std::int64_t>(offset)},
                                                 {"headers", headers}}));
}

} // namespace sluice::workflow::asl

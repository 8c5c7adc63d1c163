#include "workflow/asl/internal/read/object_access.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "workflow/asl/internal/read/fields.h"
#include "workflow/asl/internal/read/resource.h"

namespace sluice::workflow::asl::internal {

namespace {

constexpr auto batch_items_max = std::int64_t{100'000'000};
constexpr auto batch_bytes_max = std::int64_t{262'144};
constexpr auto reader_items_max = std::int64_t{100'000'000};

/// `Resource` and what is given to it.
void read_call(const Object& object, Language language, Names actions, ObjectAccess& access) {
    auto has_paths = language == Language::JsonPath;
    auto arguments = has_paths ? "Parameters" : "Arguments";
    access.arguments = read_object_template(object, arguments, {.language = language});
    auto resource = object.text("Resource");
    if (!resource) {
        return;
    }
    access.resource = *resource;
    auto action = object_action(*resource);
    if (std::ranges::find(actions, action) == actions.end()) {
        object.refuse("Resource",
                      fmt::format("The resource provided {} is not recognized. The value is not a "
                                  "valid resource ARN, or the resource is not available in this "
                                  "region.",
                                  *resource));
    }
}

void check_headers(const Object& config) {
    auto headers = config.list("CSVHeaders");
    if (!headers) {
        return;
    }
    auto index = std::size_t{0};
    for (const auto& header : *headers) {
        auto place = join(config.at("CSVHeaders"), index++);
        if (!header.is_string()) {
            config.report().add(
                place, fmt::format("A header must be a string but is {}", kind_of(header)));
        }
    }
    if (headers->empty()) {
        config.refuse("CSVHeaders", "The field 'CSVHeaders' must name at least one column");
    }
}

void check_csv(const Object& config, std::string_view type) {
    auto location = config.word("CSVHeaderLocation", {"FIRST_ROW", "GIVEN"});
    config.word("CSVDelimiter", {"COMMA", "PIPE", "SEMICOLON", "SPACE", "TAB"});
    check_headers(config);
    if (type == "CSV" && !config.has("CSVHeaderLocation")) {
        config.refuse_all("The field 'CSVHeaderLocation' is required for the 'InputType' CSV");
    }
    if (location == "GIVEN" && !config.has("CSVHeaders")) {
        config.refuse_all("The field 'CSVHeaders' is required for the 'CSVHeaderLocation' GIVEN");
    }
    if (location == "FIRST_ROW" && config.has("CSVHeaders")) {
        config.refuse("CSVHeaders",
                      "The field 'CSVHeaders' is only supported for the 'CSVHeaderLocation' GIVEN");
    }
}

void read_reader_config(const Object& config, Language language, ObjectAccess& access) {
    config.allow_only({"InputType", "CSVDelimiter", "CSVHeaderLocation", "CSVHeaders",
                       "ItemsPointer", "ManifestType", "Transformation", "MaxItems", "MaxItemsPath",
                       "Comment"});
    auto type = config.word("InputType", {"CSV", "JSON", "JSONL", "PARQUET", "MANIFEST"});
    check_csv(config, type.value_or(""));
    config.word("ManifestType", {"S3_INVENTORY", "ATHENA_DATA"});
    config.word("Transformation", {"NONE", "LOAD_AND_FLATTEN"});
    auto pointer = config.text("ItemsPointer");
    if (pointer && !pointer->empty() && !pointer->starts_with('/')) {
        config.refuse("ItemsPointer",
                      "The field 'ItemsPointer' must be a JSON pointer, such as '/data/items'");
    }
    if (language == Language::Jsonata && config.has("MaxItemsPath")) {
        config.refuse("MaxItemsPath", "The field 'MaxItemsPath' is not supported in JSONata");
        return;
    }
    access.items_max = read_number(config, language,
                                   {.name = "MaxItems",
                                    .path_name = "MaxItemsPath",
                                    .range = {.min = 0, .max = reader_items_max}});
}

void check_call_fields(const Object& object, Language language, std::string_view config) {
    auto arguments = language == Language::JsonPath ? "Parameters" : "Arguments";
    object.allow_only({"Resource", arguments, config, "Comment"});
}

NumberField read_batch_number(const Object& batcher, Language language, std::string_view name,
                              std::string_view path_name, std::int64_t max) {
    return read_number(batcher, language,
                       {.name = name,
                        .path_name = language == Language::JsonPath ? path_name : "",
                        .range = {.min = 1, .max = max}});
}

} // namespace

std::optional<ObjectAccess> read_item_reader(const Object& map, Language language) {
    auto reader = map.object("ItemReader");
    if (!reader) {
        return std::nullopt;
    }
    auto access = ObjectAccess{};
    check_call_fields(*reader, language, "ReaderConfig");
    reader->require({"Resource"});
    read_call(*reader, language, {"s3:getObject", "s3:listObjectsV2"}, access);
    if (auto config = reader->object("ReaderConfig")) {
        access.config = config->form();
        read_reader_config(*config, language, access);
    }
    return access;
}

std::optional<ItemBatcher> read_item_batcher(const Object& map, Language language) {
    auto batcher = map.object("ItemBatcher");
    if (!batcher) {
        return std::nullopt;
    }
    if (language == Language::JsonPath) {
        batcher->allow_only({"MaxItemsPerBatch", "MaxItemsPerBatchPath", "MaxInputBytesPerBatch",
                             "MaxInputBytesPerBatchPath", "BatchInput", "Comment"});
    } else {
        batcher->allow_only({"MaxItemsPerBatch", "MaxInputBytesPerBatch", "BatchInput", "Comment"});
    }
    auto made =
        ItemBatcher{.items_max = read_batch_number(*batcher, language, "MaxItemsPerBatch",
                                                   "MaxItemsPerBatchPath", batch_items_max),
                    .bytes_max = read_batch_number(*batcher, language, "MaxInputBytesPerBatch",
                                                   "MaxInputBytesPerBatchPath", batch_bytes_max),
                    .input = read_template(*batcher, "BatchInput", {.language = language})};
    auto has_size = [&](std::string_view name) {
        return batcher->has(name) || batcher->has(fmt::format("{}Path", name));
    };
    if (!has_size("MaxItemsPerBatch") && !has_size("MaxInputBytesPerBatch")) {
        batcher->refuse_all(
            "One of these fields is required: [MaxItemsPerBatch, "
            "MaxInputBytesPerBatch]");
    }
    return made;
}

std::optional<ObjectAccess> read_result_writer(const Object& map, Language language) {
    auto writer = map.object("ResultWriter");
    if (!writer) {
        return std::nullopt;
    }
    auto access = ObjectAccess{};
    check_call_fields(*writer, language, "WriterConfig");
    if (!writer->has("Resource") && !writer->has("WriterConfig")) {
        writer->refuse_all("One of these fields is required: [Resource, WriterConfig]");
    }
    read_call(*writer, language, {"s3:putObject"}, access);
    if (auto config = writer->object("WriterConfig")) {
        access.config = config->form();
        config->allow_only({"Transformation", "OutputType", "Comment"});
        config->word("Transformation", {"NONE", "COMPACT", "FLATTEN"});
        config->word("OutputType", {"JSON", "JSONL"});
    }
    return access;
}

} // namespace sluice::workflow::asl::internal

#include "workflow/asl/result_files.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "value/json.h"
#include "value/wording.h"

namespace sluice::workflow::asl {

namespace {

using value::text_at;

constexpr auto page_files_max = std::size_t{1'000};

Value included() {
    return Value::object({{"Included", true}});
}

/// What the service tells of an execution.
Value execution_of(const Value& record, const Value& names) {
    auto name = text_at(record, "name");
    auto status = text_at(record, "status");
    const auto* input = record.find("input");
    const auto* redrives = record.find("redrives");
    auto view = Value::object({{"Input", input == nullptr ? "{}" : value::to_json(*input)},
                               {"InputDetails", included()},
                               {"Name", name},
                               {"Status", status}});
    if (status == "PENDING") {
        return view;
    }
    view = view.with("ExecutionArn", fmt::format("{}:{}", text_at(names, "execution"), name))
               .with("StateMachineArn", text_at(names, "machine"))
               .with("StartDate", text_at(record, "started"))
               .with("StopDate", text_at(record, "stopped"))
               .with("RedriveCount", redrives == nullptr ? Value{0} : *redrives)
               .with("RedriveStatus",
                     status == "SUCCEEDED" ? "NOT_REDRIVABLE" : "REDRIVABLE_BY_MAP_RUN");
    if (status == "SUCCEEDED") {
        view = view.with("RedriveStatusReason", "Execution is SUCCEEDED and cannot be redriven");
    }
    if (const auto* output = record.find("output")) {
        return view.with("Output", value::to_json(*output)).with("OutputDetails", included());
    }
    if (const auto* failure = record.find("failure")) {
        return view.with("Error", text_at(*failure, "error"))
            .with("Cause", text_at(*failure, "cause"));
    }
    return view;
}

struct Folder {
    std::string bucket;
    std::string prefix; ///< With a slash at its end.
    bool is_lines = false;

    std::string key_of(std::string_view kind, std::int64_t number) const {
        return fmt::format("{}{}_{}.{}", prefix, kind, number, is_lines ? "jsonl" : "json");
    }
};

/// Tells of a record what `Transformation` says: nothing, one value or several.
template <typename Take>
void transform(const Value& record, std::string_view how, const Value& names, const Take& take) {
    const auto* output = record.find("output");
    if (output == nullptr || (how != "FLATTEN" && how != "COMPACT")) {
        take(execution_of(record, names));
    } else if (how == "FLATTEN" && output->is_list()) {
        std::ranges::for_each(output->as_list(), take);
    } else {
        take(*output);
    }
}

/// The file of one kind; empty: there is none. Written value by value, since all of them at once
/// take many times the memory.
std::string content_of(const Value& request, std::string_view kind, bool is_lines) {
    auto how = text_at(*request.find("config"), "Transformation");
    auto content = std::string{};
    auto take = [&](const Value& value) {
        content += is_lines ? "" : content.empty() ? "[" : ",";
        content += value::to_json(value);
        content += is_lines ? "\n" : "";
    };
    auto is_there = false;
    for (const auto& record : request.find("records")->as_list()) {
        if (result_kind_of(record) == kind) {
            // Only what succeeded has outputs to transform.
            transform(record, kind == result_kinds[0] ? std::string_view{how} : "", request, take);
            is_there = true;
        }
    }
    if (!is_there || is_lines) {
        return content;
    }
    return content.empty() ? "[]" : content + "]";
}

Folder folder_of(const Value& request) {
    const auto& arguments = *request.find("arguments");
    auto prefix = text_at(arguments, "Prefix");
    if (!prefix.empty() && !prefix.ends_with('/')) {
        prefix += '/';
    }
    return {.bucket = text_at(arguments, "Bucket"),
            .prefix = prefix + text_at(request, "name") + "/",
            .is_lines = text_at(*request.find("config"), "OutputType") == "JSONL"};
}

/// Of `SUCCEEDED_12.json`.
std::uint64_t number_of(std::string_view key) {
    key.remove_prefix(key.rfind('_') + 1);
    auto number = std::uint64_t{0};
    std::from_chars(key.data(), key.data() + key.size(), number);
    return number;
}

/// The files of a kind that were written, whoever did.
Result<Value> files_of(Objects& objects, const Folder& folder, std::string_view kind,
                       std::uint64_t count) {
    auto listed = std::vector<Objects::Listed>{};
    auto prefix = fmt::format("{}{}_", folder.prefix, kind);
    while (true) {
        auto after = listed.empty() ? std::string{} : listed.back().key;
        auto page = TRY(objects.list(folder.bucket, prefix, after, page_files_max));
        auto is_last = page.empty();
        std::ranges::move(page, std::back_inserter(listed));
        if (is_last) {
            break;
        }
    }
    std::ranges::sort(listed, {}, [](const auto& each) { return number_of(each.key); });
    auto files = std::vector<Value>{};
    for (const auto& each : listed) {
        if (number_of(each.key) < count) {
            files.push_back(Value::object(
                {{"Key", each.key}, {"Size", static_cast<std::int64_t>(each.bytes)}}));
        }
    }
    return Value::list(std::move(files));
}

Result<void> write_manifest(Objects& objects, const Folder& folder, const Value& request) {
    auto files = std::vector<value::Member>{};
    const auto* counts = request.find("files");
    for (auto at : {std::size_t{1}, std::size_t{2}, std::size_t{0}}) {
        auto kind = result_kinds[at];
        auto count = counts == nullptr ? UINT64_MAX
                                       : static_cast<std::uint64_t>(counts->as_list()[at].as_int());
        files.push_back({std::string{kind}, TRY(files_of(objects, folder, kind, count))});
    }
    auto manifest = Value::object({{"DestinationBucket", folder.bucket},
                                   {"MapRunArn", text_at(request, "mapRunArn")},
                                   {"ResultFiles", Value::map(std::move(files))}});
    return objects.write(folder.bucket, folder.prefix + "manifest.json", value::to_json(manifest));
}

} // namespace

std::string_view result_kind_of(const Value& record) {
    auto status = text_at(record, "status");
    return status == "SUCCEEDED" ? result_kinds[0]
           : status == "PENDING" ? result_kinds[2]
                                 : result_kinds[1];
}

std::vector<Value> transformed(const std::vector<Value>& records, std::string_view how,
                               const Value& names) {
    auto made = std::vector<Value>{};
    for (const auto& record : records) {
        transform(record, how, names, [&](const Value& value) { made.push_back(value); });
    }
    return made;
}

Result<Value> write_results(Objects& objects, const Value& request) {
    auto folder = folder_of(request);
    for (auto at = std::size_t{0}; at < result_kinds.size(); ++at) {
        auto number = request.find("numbers")->as_list()[at].as_int();
        auto content = content_of(request, result_kinds[at], folder.is_lines);
        if (!content.empty()) {
            TRY(objects.write(folder.bucket, folder.key_of(result_kinds[at], number), content));
        }
    }
    if (request.find("close") != nullptr) {
        TRY(write_manifest(objects, folder, request));
    }
    auto written =
        Value::object({{"Bucket", folder.bucket}, {"Key", folder.prefix + "manifest.json"}});
    const auto* part = request.find("part");
    return part == nullptr ? written : written.with("part", *part);
}

} // namespace sluice::workflow::asl

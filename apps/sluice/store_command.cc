#include "sluice/store_command.h"

#include <utility>

#include "base/base64.h"
#include "engine/keys.h"
#include "sluice/output.h"
#include "store/objects/object_directory.h"
#include "value/json.h"

namespace sluice::app {

namespace {

using store::embedded::EmbeddedStore;

Value to_value(const store::embedded::CheckReport& report) {
    auto damaged = std::vector<Value>{};
    for (const auto& each : report.damaged) {
        damaged.push_back(Value::object({{"file", each.file}, {"reason", each.reason}}));
    }
    auto torn = std::vector<Value>{};
    for (const auto& each : report.torn) {
        torn.push_back(Value::object({{"file", each.file},
                                      {"offset", number(each.offset)},
                                      {"bytes", number(each.bytes)},
                                      {"reason", each.reason}}));
    }
    return Value::object({{"is_sound", report.damaged.empty()},
                          {"files", number(report.files)},
                          {"bytes", number(report.bytes)},
                          {"damaged", Value::list(std::move(damaged))},
                          {"torn", Value::list(std::move(torn))}});
}

void print_report(const store::embedded::CheckReport& report) {
    for (const auto& each : report.damaged) {
        print("{}: damaged: {}", each.file, each.reason);
    }
    for (const auto& each : report.torn) {
        print("{}: {} bytes at {} are the unfinished end of a crash and will be cut: {}", each.file,
              each.bytes, each.offset, each.reason);
    }
    if (report.damaged.empty()) {
        print("{} files, {} bytes: all sound", report.files, report.bytes);
    }
}

std::string hex(std::string_view bytes) {
    auto text = std::string{};
    for (auto byte : bytes) {
        text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    }
    return text;
}

/// A key begins with its shard in two bytes and the letter of its table.
Value record_of(std::string_view key, std::string_view value) {
    auto record = Value::object({{"key", hex(key)}});
    if (key.size() > 2) {
        auto shard = static_cast<unsigned char>(key[0]) * 256 + static_cast<unsigned char>(key[1]);
        record = record.with("shard", shard).with("table", hex(key.substr(2, 1)));
        if (key[2] > ' ' && key[2] < 0x7F) {
            record = record.with("table", key.substr(2, 1));
        }
    }
    // Whoever has the secret can answer for any task.
    return key == engine::keys::secret() ? record : record.with("value", base64_encode(value));
}

Result<void> export_objects(const std::filesystem::path& data) {
    auto objects =
        TRY(store::ObjectDirectory::open(data / "objects", store::ObjectAccess::ReadOnly));
    for (const auto& each : TRY(objects->list())) {
        auto bytes = TRY(objects->get(each.owner, each.name));
        print_line(value::to_json(Value::object({{"object", each.name},
                                                 {"namespace", each.owner.space},
                                                 {"run", each.owner.run},
                                                 {"value", base64_encode(bytes)}})));
    }
    return {};
}

} // namespace

Result<store::embedded::CheckReport> check_data(const std::filesystem::path& data) {
    auto report = TRY(EmbeddedStore::check(data));
    auto objects =
        TRY(store::ObjectDirectory::open(data / "objects", store::ObjectAccess::ReadOnly));
    auto found = TRY(objects->check());
    report.files += found.files;
    report.bytes += found.bytes;
    for (auto& each : found.damaged) {
        report.damaged.push_back({.file = std::move(each.file), .reason = std::move(each.reason)});
    }
    return report;
}

ExitCode check_store(const StoreOptions& options) {
    auto checked = check_data(options.data);
    if (!checked) {
        return report(checked.error());
    }
    if (options.is_json) {
        print_json(to_value(*checked));
    } else {
        print_report(*checked);
    }
    return checked->damaged.empty() ? ExitCode::Ok : ExitCode::Failed;
}

ExitCode export_store(const StoreOptions& options) {
    auto ignored = std::error_code{};
    if (!std::filesystem::is_directory(options.data, ignored)) {
        return report({Errc::NotFound, fmt::format("there is no data directory {}", options.data)});
    }
    auto store = EmbeddedStore::open(options.data, {.access = store::embedded::Access::ReadOnly});
    if (!store) {
        return report(store.error());
    }
    auto exported = (*store)->export_to([](std::string_view key, std::string_view value) {
        print_line(value::to_json(record_of(key, value)));
        return Result<void>{};
    });
    auto finished = exported ? export_objects(options.data) : exported;
    return finished ? ExitCode::Ok : report(finished.error());
}

} // namespace sluice::app

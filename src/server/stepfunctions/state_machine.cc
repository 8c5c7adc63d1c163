#include "server/stepfunctions/state_machine.h"

#include <algorithm>

#include "base/fingerprint.h"
#include "server/stepfunctions/arn.h"
#include "server/stepfunctions/parameters.h"
#include "workflow/asl/resource_names.h"

namespace sluice::server::stepfunctions {

namespace {

Time time_in(const Value& content, std::string_view name) {
    const auto* found = content.find(name);
    return found != nullptr && found->is_timestamp() ? found->as_timestamp() : Time{};
}

std::uint64_t count_in(const Value& content, std::string_view name) {
    return static_cast<std::uint64_t>(
        std::max<std::int64_t>(0, number_in(content, name).value_or(0)));
}

Value number_of(std::uint64_t number) {
    return Value{static_cast<std::int64_t>(number)};
}

std::span<const Value> items_in(const Value& content, std::string_view name) {
    const auto* found = content.find(name);
    return found != nullptr && found->is_list() ? found->as_list() : std::span<const Value>{};
}

Result<void> check_content(const Document& document, std::string_view what) {
    if (!document.content.is_map()) {
        return fail(Errc::Corrupt, "the {} {} is not what was written", what, document.name);
    }
    return {};
}

Value to_value(const MachineVersion& version) {
    return Value::object({{"number", number_of(version.number)},
                          {"hash", version.hash},
                          {"revision", version.revision},
                          {"role", version.role},
                          {"description", version.description},
                          {"created", version.created}});
}

} // namespace

const MachineVersion* StateMachine::version(std::uint64_t number) const {
    auto found = std::ranges::find(versions, number, &MachineVersion::number);
    return found == versions.end() ? nullptr : &*found;
}

Document StateMachine::to_document(std::string_view space) const {
    auto numbered = std::vector<Value>{};
    for (const auto& each : versions) {
        numbered.push_back(to_value(each));
    }
    return {.space = std::string{space},
            .name = name,
            .content = Value::object({{"type", is_express ? "EXPRESS" : "STANDARD"},
                                      {"hash", hash},
                                      {"revision", revision},
                                      {"role", role},
                                      {"logging", logging},
                                      {"tracing", tracing},
                                      {"encryption", encryption},
                                      {"tags", tags},
                                      {"created", created},
                                      {"updated", updated},
                                      {"versions_made", number_of(versions_made)},
                                      {"versions", Value::list(std::move(numbered))}})};
}

Result<StateMachine> StateMachine::read(const Document& document) {
    TRY(check_content(document, "state machine"));
    const auto& content = document.content;
    auto machine = StateMachine{.name = document.name,
                                .is_express = text_in(content, "type") == "EXPRESS",
                                .hash = text_in(content, "hash"),
                                .revision = text_in(content, "revision"),
                                .role = text_in(content, "role"),
                                .logging = value_in(content, "logging"),
                                .tracing = value_in(content, "tracing"),
                                .encryption = value_in(content, "encryption"),
                                .tags = value_in(content, "tags"),
                                .created = time_in(content, "created"),
                                .updated = time_in(content, "updated"),
                                .versions_made = count_in(content, "versions_made"),
                                .versions = {}};
    for (const auto& each : items_in(content, "versions")) {
        machine.versions.push_back({.number = count_in(each, "number"),
                                    .hash = text_in(each, "hash"),
                                    .revision = text_in(each, "revision"),
                                    .role = text_in(each, "role"),
                                    .description = text_in(each, "description"),
                                    .created = time_in(each, "created")});
    }
    return machine;
}

std::uint64_t MachineAlias::version_for(std::string_view execution) const {
    auto place = hash64(execution) % 100;
    for (const auto& route : routes) {
        if (place < route.weight) {
            return route.version;
        }
        place -= route.weight;
    }
    return routes.empty() ? 0 : routes.back().version;
}

Document MachineAlias::to_document(std::string_view space) const {
    auto listed = std::vector<Value>{};
    for (const auto& route : routes) {
        listed.push_back(Value::object(
            {{"version", number_of(route.version)}, {"weight", number_of(route.weight)}}));
    }
    return {.space = std::string{space},
            .name = fmt::format("{}:{}", machine, name),
            .content = Value::object({{"description", description},
                                      {"routes", Value::list(std::move(listed))},
                                      {"created", created},
                                      {"updated", updated}})};
}

Result<MachineAlias> MachineAlias::read(const Document& document) {
    TRY(check_content(document, "alias"));
    const auto& content = document.content;
    auto colon = document.name.find(':');
    if (colon == std::string::npos) {
        return fail(Errc::Corrupt, "the alias {} names no machine", document.name);
    }
    auto alias = MachineAlias{.machine = document.name.substr(0, colon),
                              .name = document.name.substr(colon + 1),
                              .description = text_in(content, "description"),
                              .routes = {},
                              .created = time_in(content, "created"),
                              .updated = time_in(content, "updated")};
    for (const auto& each : items_in(content, "routes")) {
        alias.routes.push_back({.version = count_in(each, "version"),
                                .weight = static_cast<std::uint32_t>(count_in(each, "weight"))});
    }
    return alias;
}

Document Activity::to_document(std::string_view space) const {
    return {.space = std::string{space},
            .name = name,
            .content = Value::object({{"tags", tags}, {"created", created}})};
}

Result<Activity> Activity::read(const Document& document) {
    TRY(check_content(document, "activity"));
    return Activity{.name = document.name,
                    .tags = value_in(document.content, "tags"),
                    .created = time_in(document.content, "created")};
}

std::optional<engine::Catalog::Meaning> find_version(const Documents& documents,
                                                     std::string_view space, std::string_view name,
                                                     std::string_view run) {
    auto colon = name.rfind(':');
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    auto arn = Arn{.name = std::string{name.substr(0, colon)},
                   .qualifier = std::string{name.substr(colon + 1)}};
    auto document = documents.find(StateMachine::kind, space, arn.name);
    auto machine = document ? StateMachine::read(*document) : Result<StateMachine>{StateMachine{}};
    if (!machine || machine->name.empty()) {
        return std::nullopt;
    }
    auto labels = Value{};
    auto number = arn.version();
    if (!number) {
        auto kept = documents.find(MachineAlias::kind, space, name);
        auto alias = kept ? MachineAlias::read(*kept) : Result<MachineAlias>{MachineAlias{}};
        if (!alias || alias->routes.empty()) {
            return std::nullopt;
        }
        number = alias->version_for(workflow::asl::execution_name(arn.name, run));
        labels = labels.with(alias_label, arn.qualifier);
    }
    const auto* version = machine->version(*number);
    if (version == nullptr) {
        return std::nullopt;
    }
    return engine::Catalog::Meaning{.definition = arn.name,
                                    .hash = version->hash,
                                    .labels = labels.with(version_label, std::to_string(*number))};
}

} // namespace sluice::server::stepfunctions

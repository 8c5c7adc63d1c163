#include "server/stepfunctions/internal/machines.h"

#include <algorithm>
#include <utility>

namespace sluice::server::stepfunctions {

namespace {

constexpr auto tags_max = std::size_t{50};
constexpr auto versions_max = std::size_t{1'000};

std::unexpected<Fault> no_machine(std::string_view arn) {
    return refuse("StateMachineDoesNotExist", "State Machine Does Not Exist: '{}'", arn);
}

/// One that came another way, such as `sluice deploy`, which keeps nothing but the definition.
std::expected<StateMachine, Fault> find_deployed(const World& world, std::string_view space,
                                                 std::string_view name) {
    auto& catalog = world.services.engine.catalog();
    auto hash = catalog.find(space, name);
    auto definition = hash ? catalog.definition(*hash)
                           : Result<engine::Definition>{std::unexpected(hash.error())};
    if (!definition || definition->language != "asl") {
        return no_machine(world.arns.machine(name));
    }
    auto machine = StateMachine{};
    machine.name = std::string{name};
    machine.hash = *std::move(hash);
    return machine;
}

} // namespace

std::expected<StateMachine, Fault> find_machine(const World& world, std::string_view space,
                                                std::string_view name) {
    auto document = world.services.documents->find(StateMachine::kind, space, name);
    return document ? or_fault(StateMachine::read(*document)) : find_deployed(world, space, name);
}

std::expected<void, Fault> keep_machine(World& world, std::string_view space,
                                        const StateMachine& machine) {
    return or_fault(world.services.documents->put(StateMachine::kind, machine.to_document(space)));
}

std::expected<MachineAlias, Fault> find_alias(const World& world, std::string_view space,
                                              const Arn& arn) {
    auto document = world.services.documents->find(MachineAlias::kind, space,
                                                   fmt::format("{}:{}", arn.name, arn.qualifier));
    if (!document) {
        return refuse("ResourceNotFound", "Request references a resource that does not exist: '{}'",
                      world.arns.machine(arn.name, arn.qualifier));
    }
    return or_fault(MachineAlias::read(*document));
}

std::vector<MachineAlias> aliases_of(const World& world, std::string_view space,
                                     std::string_view machine) {
    auto found = std::vector<MachineAlias>{};
    for (const auto& document : world.services.documents->list(MachineAlias::kind, space)) {
        auto alias = MachineAlias::read(document);
        if (alias && alias->machine == machine) {
            found.push_back(*std::move(alias));
        }
    }
    return found;
}

std::expected<Meant, Fault> find_meant(const World& world, std::string_view space,
                                       std::string_view text, std::string_view execution) {
    auto arn = TRY(Arn::parse(text, Arn::Kind::StateMachine));
    auto meant =
        Meant{.machine = TRY(find_machine(world, space, arn.name)), .state = {}, .alias = {}};
    const auto& machine = meant.machine;
    if (arn.qualifier.empty()) {
        meant.state = {.hash = machine.hash,
                       .revision = machine.revision,
                       .role = machine.role,
                       .description = {},
                       .created = machine.created};
        return meant;
    }
    auto number = arn.version();
    if (!number) {
        auto alias = find_alias(world, space, arn);
        if (!alias) {
            return no_machine(text);
        }
        meant.alias = alias->name;
        number = alias->version_for(execution);
    }
    const auto* version = machine.version(*number);
    if (version == nullptr) {
        return no_machine(text);
    }
    meant.state = *version;
    return meant;
}

std::expected<MachineVersion, Fault> publish(World& world, StateMachine& machine,
                                             const std::optional<std::string>& description) {
    if (!machine.versions.empty() && machine.versions.back().revision == machine.revision) {
        const auto& last = machine.versions.back();
        if (description && *description != last.description) {
            return refuse("ConflictException",
                          "version {} of this revision has another description", last.number);
        }
        return last;
    }
    if (machine.versions.size() >= versions_max) {
        return refuse("ServiceQuotaExceededException",
                      "a state machine has at most {} versions: delete some", versions_max);
    }
    machine.versions.push_back({.number = ++machine.versions_made,
                                .hash = machine.hash,
                                .revision = machine.revision,
                                .role = machine.role,
                                .description = description.value_or(""),
                                .created = world.services.clock.wall()});
    return machine.versions.back();
}

std::expected<Value, Fault> with_tags(const Value& tags, const Value& added) {
    auto all = tags.is_map() ? tags : Value::object({});
    for (const auto& tag : added.is_list() ? added.as_list() : std::span<const Value>{}) {
        auto key = text_in(tag, "key");
        if (key.empty() || key.size() > 128 || text_in(tag, "value").size() > 256) {
            return refuse("ValidationException",
                          "tags: expected a key of 1 to 128 and a value of up to 256 characters");
        }
        all = all.with(key, Value{text_in(tag, "value")});
    }
    if (all.size() > tags_max) {
        return refuse("TooManyTags", "a resource has at most {} tags", tags_max);
    }
    return all;
}

Value tags_view(const Value& tags) {
    auto listed = std::vector<Value>{};
    for (const auto& [key, value] :
         tags.is_map() ? tags.as_map() : std::span<const value::Member>{}) {
        listed.push_back(Value::object({{"key", key}, {"value", value}}));
    }
    return Value::list(std::move(listed));
}

} // namespace sluice::server::stepfunctions

#include <utility>

#include "server/stepfunctions/internal/definitions.h"
#include "server/stepfunctions/internal/identity.h"
#include "server/stepfunctions/internal/machines.h"

// CreateStateMachine, UpdateStateMachine, DeleteStateMachine, DescribeStateMachine,
// ListStateMachines.
namespace sluice::server::stepfunctions {

namespace {

Value logging_default() {
    return Value::object({{"level", "OFF"}, {"includeExecutionData", false}});
}

Value tracing_default() {
    return Value::object({{"enabled", false}});
}

Value or_default(Value given, Value (*otherwise)()) {
    return given.is_null() ? otherwise() : std::move(given);
}

std::expected<void, Fault> check_publishing(const Value& body) {
    if (text_if(body, "versionDescription") && !flag_in(body, "publish")) {
        return refuse("ValidationException",
                      "Version description can only be set when publish is true");
    }
    return {};
}

Value created_view(const World& world, const StateMachine& machine, const MachineVersion* version) {
    auto view = Value::object({{"stateMachineArn", world.arns.machine(machine.name)},
                               {"creationDate", seconds_of(machine.created)}});
    return version == nullptr
               ? view
               : view.with("stateMachineVersionArn",
                           world.arns.machine(machine.name, std::to_string(version->number)));
}

/// The same request again is one machine; role and tags are not compared, as the service does.
Answer create_again(World& world, const Call& call, StateMachine machine) {
    const auto& body = call.body;
    auto is_same =
        TRY(definition_text(world, machine.hash)) == text_in(body, "definition") &&
        machine.is_express == (text_in(body, "type") == "EXPRESS") &&
        machine.logging == or_default(value_in(body, "loggingConfiguration"), logging_default) &&
        machine.tracing == or_default(value_in(body, "tracingConfiguration"), tracing_default);
    if (!is_same) {
        return refuse("StateMachineAlreadyExists", "State Machine Already Exists: '{}'",
                      world.arns.machine(machine.name));
    }
    if (!flag_in(body, "publish")) {
        return created_view(world, machine, nullptr);
    }
    auto version = TRY(publish(world, machine, text_if(body, "versionDescription")));
    TRY(keep_machine(world, call.space, machine));
    return created_view(world, machine, &version);
}

Answer create_machine(World& world, const Call& call) {
    const auto& body = call.body;
    auto name = text_in(body, "name");
    if (!is_name(name)) {
        return refuse("InvalidName", "Invalid Name: '{}'", name);
    }
    TRY(check_publishing(body));
    auto lock = std::lock_guard{world.changes};
    if (auto document = world.services.documents->find(StateMachine::kind, call.space, name)) {
        return create_again(world, call, TRY(or_fault(StateMachine::read(*document))));
    }
    // The same text may be what a crash left half made.
    auto taken = world.services.engine.catalog().find(call.space, name);
    if (taken && TRY(definition_text(world, *taken)) != text_in(body, "definition")) {
        return refuse("StateMachineAlreadyExists",
                      "there is a definition \"{}\" that was not made by this API", name);
    }
    auto is_express = text_in(body, "type") == "EXPRESS";
    auto tags = TRY(with_tags({}, value_in(body, "tags")));
    auto hash =
        TRY(keep_definition(world, call.space, name, text_in(body, "definition"), is_express));
    auto now = world.services.clock.wall();
    auto machine =
        StateMachine{.name = name,
                     .is_express = is_express,
                     .hash = std::move(hash),
                     .revision = {},
                     .role = text_in(body, "roleArn"),
                     .logging = or_default(value_in(body, "loggingConfiguration"), logging_default),
                     .tracing = or_default(value_in(body, "tracingConfiguration"), tracing_default),
                     .encryption = value_in(body, "encryptionConfiguration"),
                     .tags = std::move(tags),
                     .created = now,
                     .updated = now,
                     .versions = {}};
    auto version = std::optional<MachineVersion>{};
    if (flag_in(body, "publish")) {
        version = TRY(publish(world, machine, text_if(body, "versionDescription")));
    }
    TRY(keep_machine(world, call.space, machine));
    return created_view(world, machine, version ? &*version : nullptr);
}

Answer update_machine(World& world, const Call& call) {
    const auto& body = call.body;
    auto arn = TRY(Arn::parse(text_in(body, "stateMachineArn"), Arn::Kind::StateMachine));
    TRY(check_publishing(body));
    auto lock = std::lock_guard{world.changes};
    auto machine = TRY(find_machine(world, call.space, arn.name));
    auto is_changed = false;
    if (auto text = text_if(body, "definition")) {
        machine.hash =
            TRY(keep_definition(world, call.space, machine.name, *text, machine.is_express));
        is_changed = true;
    }
    if (auto role = text_if(body, "roleArn")) {
        machine.role = *role;
        is_changed = true;
    }
    for (auto [name, field] : {std::pair{"loggingConfiguration", &StateMachine::logging},
                               std::pair{"tracingConfiguration", &StateMachine::tracing},
                               std::pair{"encryptionConfiguration", &StateMachine::encryption}}) {
        if (auto given = value_in(body, name); !given.is_null()) {
            machine.*field = std::move(given);
            is_changed = true;
        }
    }
    if (!is_changed) {
        return refuse("MissingRequiredParameter",
                      "Either the definition, the role ARN, or a configuration must be specified");
    }
    machine.revision = make_uuid();
    machine.updated = world.services.clock.wall();
    auto view = Value::object(
        {{"updateDate", seconds_of(machine.updated)}, {"revisionId", machine.revision}});
    if (flag_in(body, "publish")) {
        auto version = TRY(publish(world, machine, text_if(body, "versionDescription")));
        view = view.with("stateMachineVersionArn",
                         world.arns.machine(machine.name, std::to_string(version.number)));
    }
    TRY(keep_machine(world, call.space, machine));
    return view;
}

/// With its versions and aliases. Executions go on: they have the definition they began with.
Answer delete_machine(World& world, const Call& call) {
    auto arn = TRY(Arn::parse(text_in(call.body, "stateMachineArn"), Arn::Kind::StateMachine));
    if (!arn.qualifier.empty()) {
        return refuse("ValidationException",
                      "this deletes whole state machines: for a version use "
                      "DeleteStateMachineVersion, for an alias DeleteStateMachineAlias");
    }
    auto lock = std::lock_guard{world.changes};
    auto& documents = *world.services.documents;
    if (!find_machine(world, call.space, arn.name)) {
        return Value::object({});
    }
    for (const auto& alias : aliases_of(world, call.space, arn.name)) {
        TRY(or_fault(
            documents.remove(MachineAlias::kind, call.space, alias.to_document(call.space).name)));
    }
    TRY(or_fault(world.services.engine.catalog().forget(call.space, arn.name)));
    if (documents.find(StateMachine::kind, call.space, arn.name)) {
        TRY(or_fault(documents.remove(StateMachine::kind, call.space, arn.name)));
    }
    return Value::object({});
}

Answer describe_machine(World& world, const Call& call) {
    auto meant = TRY(find_meant(world, call.space, text_in(call.body, "stateMachineArn")));
    const auto& [machine, state, alias] = meant;
    auto qualifier = state.number == 0 ? std::string{} : std::to_string(state.number);
    auto view = Value::object({{"stateMachineArn", world.arns.machine(machine.name, qualifier)},
                               {"name", machine.name},
                               {"status", "ACTIVE"},
                               {"roleArn", state.role},
                               {"type", machine.is_express ? "EXPRESS" : "STANDARD"},
                               {"creationDate", seconds_of(state.created)},
                               {"loggingConfiguration", machine.logging},
                               {"tracingConfiguration", machine.tracing}});
    if (text_in(call.body, "includedData") != "METADATA_ONLY") {
        view = view.with("definition", TRY(definition_text(world, state.hash)));
    }
    if (!state.revision.empty()) {
        view = view.with("revisionId", state.revision);
    }
    if (!state.description.empty()) {
        view = view.with("description", state.description);
    }
    return machine.encryption.is_null() ? view
                                        : view.with("encryptionConfiguration", machine.encryption);
}

Answer list_machines(World& world, const Call& call) {
    auto page = TRY(Page::read(call.body, "machines"));
    auto listed = std::vector<Value>{};
    auto last = std::string{};
    for (const auto& document : world.services.documents->list(StateMachine::kind, call.space)) {
        if (document.name <= page.after) {
            continue;
        }
        if (listed.size() == page.most) {
            return Value::object({{"stateMachines", Value::list(std::move(listed))},
                                  {"nextToken", page_token("machines", last)}});
        }
        auto machine = TRY(or_fault(StateMachine::read(document)));
        last = machine.name;
        listed.push_back(Value::object({{"stateMachineArn", world.arns.machine(machine.name)},
                                        {"name", machine.name},
                                        {"type", machine.is_express ? "EXPRESS" : "STANDARD"},
                                        {"creationDate", seconds_of(machine.created)}}));
    }
    return Value::object({{"stateMachines", Value::list(std::move(listed))}});
}

} // namespace

std::vector<Operation> machine_operations() {
    auto definition = [](Parameter::Need need) {
        return Parameter{
            .name = "definition", .need = need, .least = 1, .most = definition_characters_max};
    };
    auto configurations = [](std::vector<Parameter> parameters) {
        for (auto name :
             {"loggingConfiguration", "tracingConfiguration", "encryptionConfiguration"}) {
            parameters.push_back({.name = name, .kind = Parameter::Kind::Map});
        }
        parameters.push_back({.name = "publish", .kind = Parameter::Kind::Flag});
        parameters.push_back(text_parameter("versionDescription", 256));
        return parameters;
    };
    return {
        {"CreateStateMachine", changes,
         configurations({text_parameter("name", 80, required), definition(required),
                         arn_parameter("roleArn"),
                         choice_parameter("type", {"STANDARD", "EXPRESS"}),
                         Parameter{.name = "tags", .kind = Parameter::Kind::List}}),
         create_machine},
        {"UpdateStateMachine", changes,
         configurations({arn_parameter("stateMachineArn"), definition(optional),
                         arn_parameter("roleArn", optional)}),
         update_machine},
        {"DeleteStateMachine", changes, {arn_parameter("stateMachineArn")}, delete_machine},
        {"DescribeStateMachine",
         reads,
         {arn_parameter("stateMachineArn"),
          choice_parameter("includedData", {"ALL_DATA", "METADATA_ONLY"})},
         describe_machine},
        {"ListStateMachines", reads, with_page({}), list_machines},
    };
}

} // namespace sluice::server::stepfunctions

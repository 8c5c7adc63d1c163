#include <algorithm>
#include <ranges>

#include "server/stepfunctions/internal/machines.h"

// PublishStateMachineVersion, ListStateMachineVersions, DeleteStateMachineVersion.
namespace sluice::server::stepfunctions {

namespace {

// A machine that was never updated has a revision of this name.
constexpr auto first_revision = std::string_view{"INITIAL"};

Answer publish_version(World& world, const Call& call) {
    auto arn = TRY(Arn::parse(text_in(call.body, "stateMachineArn"), Arn::Kind::StateMachine));
    auto lock = std::lock_guard{world.changes};
    auto machine = TRY(find_machine(world, call.space, arn.name));
    auto revision = text_in(call.body, "revisionId");
    auto current = machine.revision.empty() ? std::string{first_revision} : machine.revision;
    if (!revision.empty() && revision != current) {
        return refuse("ConflictException",
                      "Failed to publish the State Machine version for revision {}. The current "
                      "State Machine revision is {}.",
                      revision, current);
    }
    auto version = TRY(publish(world, machine, text_if(call.body, "description")));
    TRY(keep_machine(world, call.space, machine));
    return Value::object({{"creationDate", seconds_of(version.created)},
                          {"stateMachineVersionArn",
                           world.arns.machine(machine.name, std::to_string(version.number))}});
}

Answer list_versions(World& world, const Call& call) {
    auto arn = TRY(Arn::parse(text_in(call.body, "stateMachineArn"), Arn::Kind::StateMachine));
    auto page = TRY(Page::read(call.body, "versions"));
    auto listed = std::vector<Value>{};
    auto machine = find_machine(world, call.space, arn.name);
    if (!machine) {
        return Value::object({{"stateMachineVersions", Value::list({})}});
    }
    auto last = std::string{};
    for (const auto& version : machine->versions | std::views::reverse) {
        auto number = fmt::format("{:020}", version.number);
        if (!page.after.empty() && number >= page.after) {
            continue;
        }
        if (listed.size() == page.most) {
            return Value::object({{"stateMachineVersions", Value::list(std::move(listed))},
                                  {"nextToken", page_token("versions", last)}});
        }
        last = number;
        listed.push_back(
            Value::object({{"stateMachineVersionArn",
                            world.arns.machine(machine->name, std::to_string(version.number))},
                           {"creationDate", seconds_of(version.created)}}));
    }
    return Value::object({{"stateMachineVersions", Value::list(std::move(listed))}});
}

Answer delete_version(World& world, const Call& call) {
    auto text = text_in(call.body, "stateMachineVersionArn");
    auto arn = TRY(Arn::parse(text, Arn::Kind::StateMachine));
    auto number = arn.version();
    if (!number) {
        return refuse("InvalidArn", "Invalid Arn: 'no version: {}'", text);
    }
    auto lock = std::lock_guard{world.changes};
    auto machine = find_machine(world, call.space, arn.name);
    if (!machine) {
        return Value::object({});
    }
    for (const auto& alias : aliases_of(world, call.space, arn.name)) {
        if (std::ranges::find(alias.routes, *number, &MachineAlias::Route::version) !=
            alias.routes.end()) {
            return refuse("ConflictException",
                          "Version to be deleted must not be referenced by an alias. Current list "
                          "of aliases referencing this version: [{}]",
                          alias.name);
        }
    }
    std::erase_if(machine->versions, [&](const auto& each) { return each.number == *number; });
    TRY(keep_machine(world, call.space, *machine));
    return Value::object({});
}

} // namespace

std::vector<Operation> version_operations() {
    return {{"PublishStateMachineVersion",
             changes,
             {arn_parameter("stateMachineArn"), text_parameter("revisionId", 256),
              text_parameter("description", 256)},
             publish_version},
            {"ListStateMachineVersions", reads, with_page({arn_parameter("stateMachineArn")}),
             list_versions},
            {"DeleteStateMachineVersion",
             changes,
             {arn_parameter("stateMachineVersionArn")},
             delete_version}};
}

} // namespace sluice::server::stepfunctions

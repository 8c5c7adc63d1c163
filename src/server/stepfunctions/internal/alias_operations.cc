#include <algorithm>
#include <cctype>

#include "server/stepfunctions/internal/machines.h"

// Aliases of versions: create, update, delete, describe, list.
namespace sluice::server::stepfunctions {

namespace {

constexpr auto routes_max = std::size_t{2};
constexpr auto aliases_max = std::size_t{100};

/// Not only digits: those are versions.
bool is_alias_name(std::string_view name) {
    auto is_letter = [](unsigned char each) {
        return std::isalnum(each) != 0 || each == '_' || each == '-' || each == '.';
    };
    auto is_digit = [](unsigned char each) { return std::isdigit(each) != 0; };
    return std::ranges::all_of(name, is_letter) && !std::ranges::all_of(name, is_digit);
}

struct Routing {
    std::string machine;
    std::vector<MachineAlias::Route> routes;
};

/// One or two versions of one machine, with weights that are a hundred together.
std::expected<Routing, Fault> read_routing(const World& world, std::string_view space,
                                           const Value& form) {
    auto routing = Routing{};
    auto weight_sum = std::uint64_t{0};
    for (const auto& item : form.as_list()) {
        auto text = text_in(item, "stateMachineVersionArn");
        auto arn = TRY(Arn::parse(text, Arn::Kind::StateMachine));
        auto weight = number_in(item, "weight").value_or(-1);
        if (weight < 0 || weight > 100) {
            return refuse("ValidationException", "weight: expected 0 to 100");
        }
        auto version = arn.version();
        if (!version || (!routing.machine.empty() && routing.machine != arn.name)) {
            return refuse("ValidationException",
                          "routingConfiguration must name versions of one state machine");
        }
        routing.machine = arn.name;
        auto machine = find_machine(world, space, arn.name);
        if (!machine || machine->version(*version) == nullptr) {
            return refuse("ResourceNotFound",
                          "Request references a resource that does not exist: '{}'", text);
        }
        auto is_twice = std::ranges::find(routing.routes, *version,
                                          &MachineAlias::Route::version) != routing.routes.end();
        if (is_twice) {
            return refuse("ValidationException",
                          "routingConfiguration must name different versions");
        }
        weight_sum += static_cast<std::uint64_t>(weight);
        routing.routes.push_back({*version, static_cast<std::uint32_t>(weight)});
    }
    if (weight_sum != 100 || routing.routes.size() > routes_max) {
        return refuse("ValidationException",
                      "routingConfiguration: expected one or two versions whose weights are 100 "
                      "together");
    }
    return routing;
}

Value routes_view(const World& world, const MachineAlias& alias) {
    auto listed = std::vector<Value>{};
    for (const auto& route : alias.routes) {
        listed.push_back(
            Value::object({{"stateMachineVersionArn",
                            world.arns.machine(alias.machine, std::to_string(route.version))},
                           {"weight", static_cast<std::int64_t>(route.weight)}}));
    }
    return Value::list(std::move(listed));
}

std::expected<void, Fault> keep_alias(World& world, const Call& call, const MachineAlias& alias) {
    return or_fault(
        world.services.documents->put(MachineAlias::kind, alias.to_document(call.space)));
}

std::expected<Arn, Fault> alias_arn(const Call& call) {
    auto text = text_in(call.body, "stateMachineAliasArn");
    auto arn = TRY(Arn::parse(text, Arn::Kind::StateMachine));
    if (arn.qualifier.empty() || arn.version()) {
        return refuse("InvalidArn", "Invalid Arn: 'no alias: {}'", text);
    }
    return arn;
}

Answer create_alias(World& world, const Call& call) {
    auto name = text_in(call.body, "name");
    if (!is_alias_name(name)) {
        return refuse("InvalidName", "Invalid Name: '{}'", name);
    }
    auto lock = std::lock_guard{world.changes};
    auto routing =
        TRY(read_routing(world, call.space, value_in(call.body, "routingConfiguration")));
    auto now = world.services.clock.wall();
    auto alias = MachineAlias{.machine = routing.machine,
                              .name = name,
                              .description = text_in(call.body, "description"),
                              .routes = routing.routes,
                              .created = now,
                              .updated = now};
    auto others = aliases_of(world, call.space, alias.machine);
    auto before = std::ranges::find(others, name, &MachineAlias::name);
    if (before != others.end()) {
        auto is_same = before->description == alias.description &&
                       routes_view(world, *before) == routes_view(world, alias);
        if (!is_same) {
            return refuse("ConflictException",
                          "Failed to create alias because an alias with the same name and a "
                          "different routing configuration already exists.");
        }
        alias.created = before->created;
    } else if (others.size() >= aliases_max) {
        return refuse("ServiceQuotaExceededException", "a state machine has at most {} aliases",
                      aliases_max);
    } else {
        TRY(keep_alias(world, call, alias));
    }
    return Value::object({{"stateMachineAliasArn", world.arns.machine(alias.machine, name)},
                          {"creationDate", seconds_of(alias.created)}});
}

Answer update_alias(World& world, const Call& call) {
    auto arn = TRY(alias_arn(call));
    auto lock = std::lock_guard{world.changes};
    auto alias = TRY(find_alias(world, call.space, arn));
    auto description = text_if(call.body, "description");
    auto form = value_in(call.body, "routingConfiguration");
    if (!description && form.is_null()) {
        return refuse("ValidationException",
                      "write what to change: description or routingConfiguration");
    }
    alias.description = description.value_or(alias.description);
    if (!form.is_null()) {
        auto routing = TRY(read_routing(world, call.space, form));
        if (routing.machine != alias.machine) {
            return refuse("ValidationException",
                          "routingConfiguration must name versions of the alias's machine");
        }
        alias.routes = routing.routes;
    }
    alias.updated = world.services.clock.wall();
    TRY(keep_alias(world, call, alias));
    return Value::object({{"updateDate", seconds_of(alias.updated)}});
}

Answer delete_alias(World& world, const Call& call) {
    auto arn = TRY(alias_arn(call));
    auto lock = std::lock_guard{world.changes};
    auto alias = TRY(find_alias(world, call.space, arn));
    TRY(or_fault(world.services.documents->remove(MachineAlias::kind, call.space,
                                                  alias.to_document(call.space).name)));
    return Value::object({});
}

Answer describe_alias(World& world, const Call& call) {
    auto arn = TRY(alias_arn(call));
    auto alias = TRY(find_alias(world, call.space, arn));
    return Value::object({{"stateMachineAliasArn", world.arns.machine(alias.machine, alias.name)},
                          {"name", alias.name},
                          {"description", alias.description},
                          {"routingConfiguration", routes_view(world, alias)},
                          {"creationDate", seconds_of(alias.created)},
                          {"updateDate", seconds_of(alias.updated)}});
}

Answer list_aliases(World& world, const Call& call) {
    auto arn = TRY(Arn::parse(text_in(call.body, "stateMachineArn"), Arn::Kind::StateMachine));
    auto page = TRY(Page::read(call.body, "aliases"));
    TRY(find_machine(world, call.space, arn.name));
    auto version = arn.version();
    auto listed = std::vector<Value>{};
    auto last = std::string{};
    for (const auto& alias : aliases_of(world, call.space, arn.name)) {
        auto is_wanted =
            !version || std::ranges::find(alias.routes, *version, &MachineAlias::Route::version) !=
                            alias.routes.end();
        if (alias.name <= page.after || !is_wanted) {
            continue;
        }
        if (listed.size() == page.most) {
            return Value::object({{"stateMachineAliases", Value::list(std::move(listed))},
                                  {"nextToken", page_token("aliases", last)}});
        }
        last = alias.name;
        listed.push_back(
            Value::object({{"stateMachineAliasArn", world.arns.machine(alias.machine, alias.name)},
                           {"creationDate", seconds_of(alias.created)}}));
    }
    return Value::object({{"stateMachineAliases", Value::list(std::move(listed))}});
}

} // namespace

std::vector<Operation> alias_operations() {
    auto alias = arn_parameter("stateMachineAliasArn");
    auto routing = [](Parameter::Need need) {
        return Parameter{.name = "routingConfiguration",
                         .kind = Parameter::Kind::List,
                         .need = need,
                         .least = 1,
                         .most = routes_max};
    };
    return {{"CreateStateMachineAlias",
             changes,
             {Parameter{.name = "name", .need = required, .least = 1, .most = 80},
              text_parameter("description", 256), routing(required)},
             create_alias},
            {"UpdateStateMachineAlias",
             changes,
             {alias, text_parameter("description", 256), routing(optional)},
             update_alias},
            {"DeleteStateMachineAlias", changes, {alias}, delete_alias},
            {"DescribeStateMachineAlias", reads, {alias}, describe_alias},
            {"ListStateMachineAliases", reads, with_page({arn_parameter("stateMachineArn")}),
             list_aliases}};
}

} // namespace sluice::server::stepfunctions

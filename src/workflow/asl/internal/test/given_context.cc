#include "workflow/asl/internal/test/given_context.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/fingerprint.h"
#include "workflow/asl/internal/run/context_object.h"

namespace sluice::workflow::asl::internal {

namespace {

struct ContextMember {
    std::string_view part;
    std::string_view name;
    std::string_view type; ///< `string`, `number` or `any`
};
constexpr ContextMember context_members[] = {{"Execution", "Id", "string"},
                                             {"Execution", "Input", "any"},
                                             {"Execution", "Name", "string"},
                                             {"Execution", "RoleArn", "string"},
                                             {"Execution", "StartTime", "string"},
                                             {"Execution", "RedriveCount", "number"},
                                             {"Execution", "RedriveTime", "string"},
                                             {"StateMachine", "Id", "string"},
                                             {"StateMachine", "Name", "string"},
                                             {"State", "EnteredTime", "string"},
                                             {"State", "Name", "string"},
                                             {"State", "RetryCount", "number"},
                                             {"Task", "Token", "string"}};

bool has_token(const State& state) {
    const auto* task = std::get_if<TaskState>(&state.details);
    return task != nullptr && task->pattern != Pattern::RequestResponse;
}

std::string fault_in_part(std::string_view part, const Value& members) {
    if (!members.is_map()) {
        return fmt::format("{} must be an object", part);
    }
    for (const auto& [name, value] : members.as_map()) {
        const auto* known = std::ranges::find_if(context_members, [&](const auto& each) {
            return each.part == part && each.name == name;
        });
        if (known == std::end(context_members)) {
            return fmt::format("Field '{}' is not allowed", name);
        }
        if (known->type == "string" && !value.is_string()) {
            return fmt::format("{}.{} must be a string", part, name);
        }
        if (known->type == "number" && !value.is_number()) {
            return fmt::format("{}.{} must be a number", part, name);
        }
    }
    return "";
}

std::string fault_in_context(const Value& context, const State& state) {
    if (!context.is_map()) {
        return "Context object must be a JSON object";
    }
    for (const auto& [part, members] : context.as_map()) {
        if (part == "Map") {
            return "'Map' field is not supported when mocking a Context object";
        }
        if (part == "Task" && !has_token(state)) {
            return "Context object contains 'Task' when state is not a Task state with a '.sync' "
                   "or '.waitForTaskToken' service integration pattern";
        }
        auto is_known = std::ranges::any_of(context_members,
                                            [&](const auto& each) { return each.part == part; });
        auto fault = is_known ? fault_in_part(part, members)
                              : fmt::format("Field '{}' is not allowed", part);
        if (!fault.empty()) {
            return fault;
        }
    }
    return "";
}

/// Made of the chance, so that the same test has the same.
std::string uuid_of(std::uint64_t chance, std::string_view salt) {
    auto print = fingerprint(std::to_string(chance), salt);
    return fmt::format("{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}", print.high >> 32U,
                       (print.high >> 16U) & 0xFFFFU, print.high & 0xFFFU, print.low >> 52U,
                       print.low & 0xFFFFFFFFFFFFU);
}

} // namespace

std::string context_fault(const Value& context, const State& state) {
    auto fault = fault_in_context(context, state);
    return fault.empty() ? fault : "Invalid Context object provided: " + fault;
}

Value made_context(const StateTest& test, const State& state) {
    auto machine = uuid_of(test.chance, "machine");
    auto name = uuid_of(test.chance, "execution");
    auto now = run::time_text(test.now);
    auto arn = [&](std::string_view rest) {
        return fmt::format("arn:aws:states:{}:{}:{}", test.region, test.account, rest);
    };
    auto execution = Value::object({{"Id", arn(fmt::format("express:{}:{}", machine, name))},
                                    {"Input", test.input},
                                    {"Name", name},
                                    {"RoleArn", test.role.empty() ? Value{} : Value{test.role}},
                                    {"StartTime", now}});
    // The service calls every state that it tests so.
    auto entered = Value::object({{"Name", "StateName"}, {"EnteredTime", now}});
    if (state.kind == Kind::Task || state.kind == Kind::Map || state.kind == Kind::Parallel) {
        entered = entered.with("RetryCount", static_cast<std::int64_t>(test.retries));
    }
    auto context =
        Value::object({{"Execution", std::move(execution)},
                       {"StateMachine",
                        Value::object({{"Id", arn("stateMachine:" + machine)}, {"Name", machine}})},
                       {"State", std::move(entered)}});
    return has_token(state)
               ? context.with("Task", Value::object({{"Token", uuid_of(test.chance, "token")}}))
               : context;
}

} // namespace sluice::workflow::asl::internal

#include "workflow/asl/internal/run/context_object.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/fingerprint.h"
#include "value/time_text.h"
#include "workflow/asl/resource_names.h"

namespace sluice::workflow::asl::internal::run {

std::string arn_of(const Program& program, std::string_view kind, std::string_view name) {
    return fmt::format("arn:aws:states:{}:{}:{}:{}", program.region, program.account, kind, name);
}

std::string uuid_of(std::string_view first, std::string_view second) {
    auto [high, low] = fingerprint(first, second);
    return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32U, high >> 16U & 0xFFFFU,
                       high & 0xFFFFU, low >> 48U, low & 0xFFFFFFFFFFFFU);
}

std::string time_text(Time time) {
    auto whole = std::chrono::floor<std::chrono::milliseconds>(time);
    auto text = value::format_time(std::chrono::floor<std::chrono::seconds>(time));
    auto milliseconds = (whole - std::chrono::floor<std::chrono::seconds>(whole)).count();
    return fmt::format("{}.{:03}Z", std::string_view{text}.substr(0, text.size() - 1),
                       milliseconds);
}

const Value& ContextObject::value() const {
    if (!value_) {
        value_ = make();
    }
    return *value_;
}

Value ContextObject::make() const {
    const auto& info = state_.info;
    auto name = execution_name(info.definition, state_.id);
    // Those of express machines have something unique behind their name.
    auto is_express = program_.is_express && name.contains(':');
    auto kind = std::string_view{is_express ? "express" : "execution"};
    auto execution =
        Value::object({{"Id", arn_of(program_, kind, fmt::format("{}:{}", info.definition, name))},
                       {"Input", info.input},
                       {"StartTime", time_text(info.started)},
                       {"Name", is_express ? name.substr(0, name.find(':')) : name},
                       {"RoleArn", fmt::format("arn:aws:iam::{}:role/sluice", program_.account)},
                       {"RedriveCount", as_value(info.generation - 1)}});
    auto machine = Value::object(
        {{"Id", arn_of(program_, "stateMachine", info.definition)}, {"Name", info.definition}});
    auto state =
        Value::object({{"Name", visit_.state.name}, {"EnteredTime", time_text(visit_.at)}});
    if (!visit_.state.retry.empty()) {
        state = state.with("RetryCount", as_value(visit_.retries));
    }
    auto members = std::vector<value::Member>{{"Execution", std::move(execution)},
                                              {"StateMachine", std::move(machine)},
                                              {"State", std::move(state)}};
    if (!visit_.token.empty()) {
        members.push_back({"Task", Value::object({{"Token", visit_.token}})});
    }
    const auto* item = item_;
    for (const auto* at = &visit_.frame; item == nullptr && at != nullptr; at = at->outer) {
        item = at->item.is_null() ? nullptr : &at->item;
    }
    if (item != nullptr) {
        members.push_back({"Map", Value::object({{"Item", *item}})});
    }
    return Value::map(std::move(members));
}

} // namespace sluice::workflow::asl::internal::run

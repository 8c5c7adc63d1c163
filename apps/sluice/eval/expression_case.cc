#include "sluice/eval/expression_case.h"

#include <array>
#include <utility>

#include "value/json.h"

namespace sluice::app {
namespace {

using value::Member;

Result<std::string> text_of(const Value& line, std::string_view name) {
    const auto* member = line.find(name);
    if (member == nullptr) {
        return std::string{};
    }
    if (!member->is_string()) {
        return fail(Errc::InvalidInput, "{}: expected a text", name);
    }
    return std::string{member->as_string()};
}

Result<Value> map_of(const Value& line, std::string_view name) {
    const auto* member = line.find(name);
    if (member == nullptr || member->is_null()) {
        return Value{};
    }
    if (!member->is_map()) {
        return fail(Errc::InvalidInput, "{}: expected an object of names and values", name);
    }
    return *member;
}

Result<std::vector<std::string>> names_of(const Value& line) {
    auto names = std::vector<std::string>{};
    const auto* member = line.find("names");
    if (member == nullptr || member->is_null()) {
        return names;
    }
    if (!member->is_list()) {
        return fail(Errc::InvalidInput, "names: expected a list of texts");
    }
    for (const auto& name : member->as_list()) {
        if (!name.is_string()) {
            return fail(Errc::InvalidInput, "names: expected a list of texts");
        }
        names.emplace_back(name.as_string());
    }
    return names;
}

Value error_of(const expr::Fault& fault) {
    return Value::object({{"code", fault.code},
                          {"message", fault.message},
                          {"position", static_cast<std::int64_t>(fault.position)}});
}

} // namespace

Result<ExpressionCase> read_case(const Value& line, event::Codec& codec) {
    if (!line.is_map()) {
        return fail(Errc::InvalidInput, "expected an object with \"id\" and \"expr\"");
    }
    if (line.find("expr") == nullptr) {
        return fail(Errc::InvalidInput, "expr: expected the expression as text");
    }
    auto one = ExpressionCase{.text = TRY(text_of(line, "expr")),
                              .bindings = TRY(map_of(line, "bindings")),
                              .typed_bindings = TRY(map_of(line, "typed_bindings")),
                              .names = TRY(names_of(line)),
                              .container = TRY(text_of(line, "container"))};
    if (const auto* input = line.find("input")) {
        one.input = *input;
    }
    if (const auto* event = line.find("event"); event != nullptr && !event->is_null()) {
        auto parsed = codec.parse(value::to_json(*event));
        if (!parsed) {
            return fail(Errc::InvalidInput, "event: {}", parsed.error().message);
        }
        one.event = *std::move(parsed);
    }
    return one;
}

Value write_answer(Value id, const ExpressionAnswer& answer) {
    auto members = std::vector<Member>{{"id", std::move(id)}};
    if (answer.value) {
        members.push_back({"value", *answer.value});
    }
    if (answer.fault) {
        members.push_back({"error", error_of(*answer.fault)});
    }
    if (answer.errors) {
        auto errors = std::vector<Value>{};
        for (const auto& fault : *answer.errors) {
            errors.push_back(error_of(fault));
        }
        members.push_back({"errors", Value::list(std::move(errors))});
    }
    if (!answer.value && !answer.fault) {
        members.push_back({"undefined", true});
    }
    return Value::map(std::move(members));
}

} // namespace sluice::app

#include "workflow/asl/internal/data_flow.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/result.h"
#include "expr/states/timestamp.h"
#include "value/json.h"

namespace sluice::workflow::asl::internal {
namespace {

using expr::states::parse_timestamp;
using expr::states::unexpected_type;

/// The service counts a delay in seconds of 32 bits.
constexpr std::int64_t delay_seconds_max = std::numeric_limits<std::int32_t>::max();

template <typename... Parts>
std::unexpected<Failure> fail_runtime(fmt::format_string<Parts...> text, Parts&&... parts) {
    return std::unexpected(
        Failure{"States.Runtime", fmt::format(text, std::forward<Parts>(parts)...)});
}

/// A text as it is, anything else as JSON.
std::string bare(const Value& value) {
    return value.is_string() ? std::string{value.as_string()} : value::to_json(value);
}

std::optional<std::int64_t> whole(const Value& value) {
    if (value.is_int()) {
        return value.as_int();
    }
    return std::nullopt;
}

Flow<Time> after(std::int64_t seconds, const Sight& sight) {
    if (seconds > delay_seconds_max) {
        return fail_runtime("Wait state delay is too long.");
    }
    return sight.now + std::chrono::seconds{seconds};
}

Flow<Time> until(expr::states::Timestamp timestamp, const Sight& sight) {
    auto now = expr::states::timestamp_of(sight.now);
    if (timestamp <= now) {
        return sight.now;
    }
    if (timestamp.seconds - now.seconds > delay_seconds_max) {
        return fail_runtime("Wait state delay is too long.");
    }
    return Time{std::chrono::seconds{timestamp.seconds}} + Nanos{timestamp.nanos};
}

Flow<std::int64_t> seconds_at(const Selector& path, const Sight& sight) {
    auto made = Value{};
    const auto* value = path.find(sight, made);
    if (value == nullptr) {
        return fail_runtime("The SecondsPath parameter does not reference an input value: {}",
                            path.text());
    }
    auto seconds = whole(*value);
    if (!seconds) {
        return fail_runtime("The SecondsPath parameter cannot be parsed as a long value: {} == {}",
                            path.text(), bare(*value));
    }
    if (*seconds < 0) {
        return fail_runtime("The SecondsPath parameter references a negative value: {} == {}",
                            path.text(), *seconds);
    }
    return *seconds;
}

Flow<Time> time_at(const Selector& path, const Sight& sight) {
    auto made = Value{};
    const auto* value = path.find(sight, made);
    if (value == nullptr) {
        return fail_runtime("The TimestampPath parameter does not reference an input value: {}",
                            path.text());
    }
    auto timestamp = value->is_string() ? parse_timestamp(value->as_string()) : std::nullopt;
    if (!timestamp) {
        return fail_runtime(
            "The TimestampPath parameter does not reference a valid ISO-8601 "
            "extended offset date-time format string: {} == {}",
            path.text(), bare(*value));
    }
    return until(*timestamp, sight);
}

Flow<Time> time_from(const Template& expression, const Sight& sight) {
    auto value = TRY(expression.evaluate(sight, "Timestamp"));
    if (!value.is_string()) {
        return std::unexpected(unexpected_type(expression, "Timestamp", "string", value));
    }
    auto timestamp = parse_timestamp(value.as_string());
    if (!timestamp) {
        return std::unexpected(Failure{
            "States.QueryEvaluationError",
            fmt::format("The Timestamp field cannot be parsed as an ISO-8601 extended offset "
                        "date-time format string: {}",
                        value.as_string()),
            "Timestamp"});
    }
    return until(*timestamp, sight);
}

/// The value of a number field that is computed, and what makes it.
Flow<Value> read_number(const NumberField& number, std::string_view field, const Sight& sight) {
    if (const auto* path = std::get_if<Selector>(&number.source)) {
        auto value = TRY(path->read(sight));
        // The service takes a text that is a number.
        auto parsed =
            value.is_string() ? value::parse_json(value.as_string()) : Result<Value>{value};
        return parsed && (parsed->is_int() || parsed->is_double()) ? *std::move(parsed) : value;
    }
    if (const auto* expression = std::get_if<Template>(&number.source)) {
        return expression->evaluate(sight, field);
    }
    const auto* real = std::get_if<double>(&number.source);
    return real != nullptr ? Value{*real} : Value{std::get<std::int64_t>(number.source)};
}

std::unexpected<Failure> wrong_number(const NumberField& number, std::string_view field,
                                      std::string_view expected, std::string_view type,
                                      const Value& value) {
    if (const auto* expression = std::get_if<Template>(&number.source)) {
        return std::unexpected(unexpected_type(*expression, field, expected, value));
    }
    const auto* path = std::get_if<Selector>(&number.source);
    return fail_runtime("The {}Path field refers to value \"{}\" which is not a valid {}: {}",
                        field, bare(value), type, path != nullptr ? path->text() : "");
}

/// A number that an expression made is wrong as an evaluation, any other at run time.
std::unexpected<Failure> out_of_range(const NumberField& number, std::string_view field,
                                      std::string message) {
    if (std::holds_alternative<Template>(number.source)) {
        return std::unexpected(
            Failure{"States.QueryEvaluationError", std::move(message), std::string{field}});
    }
    return std::unexpected(Failure{"States.Runtime", std::move(message)});
}

Flow<std::optional<std::string>> read_text(const FailState::Text& text, std::string_view field,
                                           const Sight& sight) {
    if (const auto* literal = std::get_if<std::string>(&text)) {
        return *literal;
    }
    if (const auto* path = std::get_if<Selector>(&text)) {
        auto name = fmt::format("{}Path", field);
        auto value = TRY(path->read_for(name, sight));
        if (!value.is_string()) {
            return fail_runtime("The {} parameter does not reference a string: {} == {}", name,
                                path->text(), value::to_json(value));
        }
        return std::string{value.as_string()};
    }
    if (const auto* expression = std::get_if<Template>(&text)) {
        auto value = TRY(expression->evaluate(sight, field));
        if (!value.is_string()) {
            return std::unexpected(unexpected_type(*expression, field, "string", value));
        }
        return std::string{value.as_string()};
    }
    return std::nullopt;
}

bool is_iterable(const Value& value) {
    return value.is_list() || value.is_map();
}

} // namespace

Flow<Value> apply_path(const PathField& field, const Sight& sight) {
    static const auto nothing = Value::object({});
    if (field.is_null) {
        return nothing;
    }
    return field.path ? field.path->read(sight) : Flow<Value>{*sight.data};
}

Flow<Value> place_result(const ResultPath& path, const Value& raw_input, Value result) {
    if (path.is_discarded) {
        return raw_input;
    }
    if (!path.place) {
        return result;
    }
    auto placed = path.place->write(raw_input, std::move(result));
    if (!placed) {
        return std::unexpected(Failure{"States.ResultPathMatchFailure",
                                       fmt::format("Unable to apply ReferencePath {} to input {}",
                                                   path.place->text(), value::to_json(raw_input))});
    }
    return *std::move(placed);
}

Flow<std::int64_t> read_integer(const NumberField& number, std::string_view field,
                                const Sight& sight) {
    if (const auto* literal = std::get_if<std::int64_t>(&number.source)) {
        return *literal;
    }
    auto value = TRY(read_number(number, field, sight));
    auto integer = whole(value);
    if (!integer) {
        return wrong_number(number, field, "integer", "integer", value);
    }
    return *integer;
}

Flow<std::int64_t> read_count(const NumberField& number, std::string_view field,
                              const Sight& sight) {
    auto count = TRY(read_integer(number, field, sight));
    if (count < 0) {
        return out_of_range(number, field, fmt::format("{} cannot be negative.", field));
    }
    return count;
}

Flow<double> read_percentage(const NumberField& number, std::string_view field,
                             const Sight& sight) {
    auto value = TRY(read_number(number, field, sight));
    if (!value.is_int() && !value.is_double()) {
        return wrong_number(number, field, "number", "float", value);
    }
    auto percentage = value.is_int() ? static_cast<double>(value.as_int()) : value.as_double();
    if (!(percentage >= 0 && percentage <= 100)) {
        return out_of_range(number, field, fmt::format("{} must be between 0 and 100.", field));
    }
    return percentage;
}

Flow<Time> read_wait(const WaitState& wait, const Sight& sight) {
    if (const auto* text = std::get_if<std::string>(&wait.timestamp)) {
        // A definition with another text was refused.
        return until(parse_timestamp(*text).value_or(expr::states::Timestamp{}), sight);
    }
    if (const auto* path = std::get_if<Selector>(&wait.timestamp)) {
        return time_at(*path, sight);
    }
    if (const auto* expression = std::get_if<Template>(&wait.timestamp)) {
        return time_from(*expression, sight);
    }
    if (const auto* path = std::get_if<Selector>(&wait.seconds.source)) {
        return after(TRY(seconds_at(*path, sight)), sight);
    }
    return after(TRY(read_count(wait.seconds, "Seconds", sight)), sight);
}

Flow<Value> read_items(const MapState& map, Language language, const Sight& sight) {
    if (language == Language::Jsonata) {
        if (!map.items) {
            return is_iterable(*sight.data)
                       ? Flow<Value>{*sight.data}
                       : std::unexpected(
                             Failure{"States.QueryEvaluationError",
                                     fmt::format("Map state input must be an array but was: {}",
                                                 value::to_json(*sight.data))});
        }
        auto items = TRY(map.items->evaluate(sight, "Items"));
        if (!is_iterable(items)) {
            return std::unexpected(unexpected_type(*map.items, "Items", "array", items));
        }
        return items;
    }
    auto made = Value{};
    const auto* items = map.items_path ? map.items_path->find(sight, made) : sight.data;
    if (items == nullptr) {
        return std::unexpected(
            Failure{"States.ReferencePathConflict",
                    fmt::format("Unable to apply step \"{}\" to input {}",
                                map.items_path->missing_step(sight), value::to_json(*sight.data))});
    }
    if (!is_iterable(*items)) {
        return fail_runtime("Reference path \"{}\" must point to array.",
                            map.items_path ? map.items_path->text() : "$");
    }
    return *items;
}

Flow<Failure> read_failure(const FailState& fail, const Sight& sight) {
    auto error = TRY(read_text(fail.error, "Error", sight));
    auto cause = TRY(read_text(fail.cause, "Cause", sight));
    return Failure{std::move(error), std::move(cause)};
}

Failure no_choice_matched() {
    return {"States.NoChoiceMatched",
            "Failed to transition out of the state. The state does not point to a next state."};
}

} // namespace sluice::workflow::asl::internal

#include "workflow/asl/internal/run/data_fields.h"

#include <utility>

#include "value/json.h"

namespace sluice::workflow::asl::internal {

std::expected<Value, Failure> select(const PathField& field, const Sight& sight) {
    if (field.is_null) {
        return Value::map({});
    }
    return field.path ? field.path->read(sight) : *sight.data;
}

std::expected<Value, Failure> put(const ResultPath& path, const Value& raw, Value result) {
    if (path.is_discarded) {
        return raw;
    }
    if (!path.place) {
        return result;
    }
    auto written = path.place->write(raw, std::move(result));
    if (!written) {
        return std::unexpected(
            Failure{.error = "States.ResultPathMatchFailure",
                    .cause = "Unable to apply ReferencePath " + path.place->text() + " to input " +
                             value::to_json(raw)});
    }
    return *std::move(written);
}

std::expected<std::optional<Value>, Failure> number(const NumberField& field, std::string_view name,
                                                    const Sight& sight) {
    using Found = std::expected<std::optional<Value>, Failure>;
    struct Reader {
        std::string_view name;
        const Sight& sight;

        Found operator()(std::monostate /*none*/) const { return std::nullopt; }
        Found operator()(std::int64_t given) const { return Value{given}; }
        Found operator()(double given) const { return Value{given}; }
        Found operator()(const Selector& path) const {
            auto found = path.read(sight);
            return found ? Found{*std::move(found)} : std::unexpected(std::move(found.error()));
        }
        Found operator()(const Template& expression) const {
            auto found = expression.evaluate(sight, name);
            return found ? Found{*std::move(found)} : std::unexpected(std::move(found.error()));
        }
    };
    return std::visit(Reader{name, sight}, field.source);
}

std::size_t json_bytes(const Value& value, std::size_t most) {
    auto bytes = std::size_t{2};
    if (value.is_list()) {
        for (const auto& item : value.as_list()) {
            bytes += json_bytes(item, most - bytes) + 1;
            if (bytes > most) {
                return bytes;
            }
        }
    } else if (value.is_map()) {
        for (const auto& [key, member] : value.as_map()) {
            bytes += key.size() + 4 + json_bytes(member, most - bytes);
            if (bytes > most) {
                return bytes;
            }
        }
    } else if (value.is_string()) {
        bytes += value.size();
    } else if (value.is_number()) {
        return value::to_json(value).size();
    }
    return value.is_bool() || value.is_null() ? 4 : bytes;
}

} // namespace sluice::workflow::asl::internal

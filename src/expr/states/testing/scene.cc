#include "expr/states/testing/scene.h"

#include "value/json.h"

namespace sluice::expr::states::testing {

Scene::Scene(std::string_view data, std::string_view context, std::string_view variables)
    : data_{value::parse_json(data).value()},
      context_{value::parse_json(context).value()},
      variables_{value::parse_json(variables).value()} {}

Sight Scene::sight() const {
    return {.data = &data_, .input = &data_, .context = this, .variables = this};
}

std::string told(const std::expected<Value, Failure>& outcome) {
    if (outcome) {
        return value::to_json(*outcome);
    }
    return outcome.error().error.value_or("") + ": " + outcome.error().cause.value_or("");
}

} // namespace sluice::expr::states::testing

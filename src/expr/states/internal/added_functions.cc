#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/fingerprint.h"
#include "expr/states/internal/function.h"
#include "expr/states/internal/query.h"
#include "value/json.h"

namespace sluice::expr::states::internal {
namespace {

using jsonata::Answer;
using Arguments = std::span<const Value>;

Fault wrong_argument(std::string_view function, std::size_t at) {
    return {"T0410",
            fmt::format("argument {} of function \"{}\" does not match function signature", at,
                        function),
            0};
}

Answer answer_of(FunctionResult result) {
    if (!result) {
        return Fault{"T0410", std::move(result.error()), 0};
    }
    return *std::move(result);
}

bool are_numbers(Arguments arguments) {
    return std::ranges::all_of(arguments, &Value::is_number);
}

Answer partition(Arguments arguments, Random& chance) {
    if (arguments.empty()) {
        return jsonata::Undefined{};
    }
    if (arguments.size() != 2 || !arguments[1].is_number()) {
        return wrong_argument("partition", 2);
    }
    auto list = arguments[0].is_list() ? arguments[0] : Value::list({arguments[0]});
    return answer_of(array_partition(std::vector{list, arguments[1]}, chance));
}

/// A sequence: it vanishes into its only item.
Answer range(Arguments arguments, Random& chance) {
    if (arguments.size() != 3 || !are_numbers(arguments)) {
        return wrong_argument("range", arguments.size() + 1);
    }
    auto items = array_range(arguments, chance);
    if (!items || items->size() > 1) {
        return answer_of(std::move(items));
    }
    if (items->size() == 0) {
        return jsonata::Undefined{};
    }
    return items->as_list()[0];
}

Answer hash(Arguments arguments, Random& chance) {
    if (arguments.empty()) {
        return jsonata::Undefined{};
    }
    if (arguments.size() > 2 || (arguments.size() == 2 && !arguments[1].is_string())) {
        return wrong_argument("hash", 2);
    }
    auto algorithm = arguments.size() == 2 ? arguments[1] : Value{"SHA-256"};
    return answer_of(hash_of_text(std::vector{arguments[0], algorithm}, chance));
}

Answer random(Arguments arguments, Random& chance) {
    if (arguments.empty()) {
        return Value{chance.unit()};
    }
    if (arguments.size() > 1 || !arguments[0].is_number()) {
        return wrong_argument("random", 1);
    }
    return Value{Random{hash64(value::to_json(arguments[0]))}.unit()};
}

Answer uuid(Arguments arguments, Random& chance) {
    return arguments.empty() ? answer_of(make_uuid(arguments, chance))
                             : Answer{wrong_argument("uuid", 1)};
}

Answer parse(Arguments arguments, Random&) {
    if (arguments.empty()) {
        return jsonata::Undefined{};
    }
    if (arguments.size() != 1 || !arguments[0].is_string()) {
        return wrong_argument("parse", 1);
    }
    return answer_of(parse_text(arguments[0].as_string()));
}

} // namespace

const std::vector<jsonata::NativeFunction>& added_functions() {
    static const auto functions = std::vector<jsonata::NativeFunction>{
        {"partition", "", partition}, {"range", "", range}, {"hash", "", hash},
        {"random", "", random},       {"uuid", "", uuid},   {"parse", "", parse},
    };
    return functions;
}

} // namespace sluice::expr::states::internal

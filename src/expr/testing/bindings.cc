#include "expr/testing/bindings.h"

namespace sluice::expr::testing {

CompileOptions options_for(const Value& names) {
    auto options = CompileOptions{};
    for (const auto& [key, value] : names.as_map()) {
        options.names.push_back(key);
    }
    return options;
}

} // namespace sluice::expr::testing

#include "expr/cel/runtime/function.h"

#include <array>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/nearest.h"

namespace sluice::expr::cel::runtime {
namespace {

using FunctionTable = std::multimap<std::string_view, const Function*>;

const FunctionTable& function_table() {
    static const auto table = [] {
        auto made = FunctionTable{};
        for (auto functions : {core_functions(), text_functions(), math_functions(),
                               time_functions(), network_functions()}) {
            for (const auto& function : functions) {
                made.emplace(function.name, &function);
            }
        }
        return made;
    }();
    return table;
}

} // namespace

const Function* find_function(std::string_view name, CallStyle style) {
    auto [first, last] = function_table().equal_range(name);
    for (auto it = first; it != last; ++it) {
        auto has = it->second->style;
        if (has == style || has == CallStyle::Either || style == CallStyle::Either) {
            return it->second;
        }
    }
    return nullptr;
}

std::string suggest_function(std::string_view name) {
    auto known = std::vector<std::string_view>{
        "has",    "all",          "exists",        "existsOne", "exists_one", "map",
        "filter", "transformMap", "transformList", "cel.bind",  "optMap",     "optFlatMap"};
    for (const auto& [key, function] : function_table()) {
        known.push_back(key);
    }
    auto found = nearest(name, known);
    return found.empty() ? std::string{} : fmt::format(": did you mean \"{}\"?", found);
}

} // namespace sluice::expr::cel::runtime

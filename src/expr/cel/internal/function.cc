#include "expr/cel/internal/function.h"

#include <algorithm>
#include <array>

namespace sluice::expr::cel::internal {
namespace {

using value::Kind;

constexpr auto functions = std::array{
    Function{"size", Op::Size, CallStyle::Either, 0, only(Kind::Int)},
    Function{"string", Op::ToString, CallStyle::Global, 0, only(Kind::String)},
    Function{"int", Op::ToInt, CallStyle::Global, 0, only(Kind::Int)},
    Function{"uint", Op::ToUint, CallStyle::Global, 0, only(Kind::Uint)},
    Function{"double", Op::ToDouble, CallStyle::Global, 0, only(Kind::Double)},
    Function{"bool", Op::ToBool, CallStyle::Global, 0, only(Kind::Bool)},
    Function{"contains", Op::Contains, CallStyle::Member, 1, only(Kind::Bool)},
    Function{"startsWith", Op::StartsWith, CallStyle::Member, 1, only(Kind::Bool)},
    Function{"endsWith", Op::EndsWith, CallStyle::Member, 1, only(Kind::Bool)},
};

} // namespace

const Function* find_function(std::string_view name) {
    const auto* found = std::ranges::find(functions, name, &Function::name);
    return found == functions.end() ? nullptr : found;
}

std::string function_names() {
    auto names = std::string{"has"};
    for (const auto& function : functions) {
        names += ", ";
        names += function.name;
    }
    return names;
}

} // namespace sluice::expr::cel::internal

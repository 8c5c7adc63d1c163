#include <array>

#include "base/base64.h"
#include "expr/cel/runtime/conversion.h"
#include "expr/cel/runtime/excerpt.h"
#include "expr/cel/runtime/function.h"

namespace sluice::expr::cel::runtime {
namespace {

Cell size_of(Machine& machine, Arguments arguments) {
    const auto& operand = arguments[0];
    switch (operand.kind()) {
        case Kind::String:
            machine.meter().spend_text(operand.size());
            return Cell::integer(static_cast<std::int64_t>(count_code_points(operand.text())));
        case Kind::Bytes:
        case Kind::List:
        case Kind::Map: return Cell::integer(static_cast<std::int64_t>(operand.size()));
        default: return machine.no_overload("size", arguments);
    }
}

Cell encode_base64(Machine& machine, Arguments arguments) {
    if (!arguments[0].is(Kind::Bytes)) {
        return machine.no_overload("base64.encode", arguments);
    }
    return machine.affords_text(arguments[0].size() / 3 * 4 + 4)
               ? machine.text(base64_encode(arguments[0].text()))
               : machine.budget_fault();
}

Cell decode_base64(Machine& machine, Arguments arguments) {
    if (!arguments[0].is(Kind::String)) {
        return machine.no_overload("base64.decode", arguments);
    }
    if (!machine.affords_text(arguments[0].size())) {
        return machine.budget_fault();
    }
    auto padded = std::string{arguments[0].text()};
    auto is_padded = padded.ends_with('=');
    while (!is_padded && padded.size() % 4 != 0) {
        padded += '=';
    }
    auto decoded = base64_decode(padded);
    return decoded ? machine.bytes(*decoded)
                   : machine.fault("bad_conversion", "base64.decode() cannot read \"{}\"",
                                   excerpt(arguments[0].text()));
}

/// CEL's default of the kind, which an empty field would have.
bool is_zero(const Cell& cell) {
    switch (cell.kind()) {
        case Kind::Null: return true;
        case Kind::Bool: return !cell.as_bool();
        case Kind::Int:
        case Kind::Uint: return cell.as_uint() == 0;
        case Kind::Double: return cell.as_double() == 0;
        case Kind::String:
        case Kind::Bytes:
        case Kind::List:
        case Kind::Map: return cell.size() == 0;
        case Kind::Timestamp: return cell.as_timestamp() == Moment{};
        case Kind::Duration: return cell.as_duration() == 0;
        case Kind::Optional: return cell.held() == nullptr;
        default: return false;
    }
}

Cell optional_of(Machine& machine, Arguments arguments) {
    return machine.some(arguments[0]);
}

Cell optional_none(Machine& /*machine*/, Arguments /*arguments*/) {
    return Machine::none();
}

Cell optional_of_non_zero(Machine& machine, Arguments arguments) {
    return is_zero(arguments[0]) ? Machine::none() : machine.some(arguments[0]);
}

Cell has_value(Machine& machine, Arguments arguments) {
    return arguments[0].is(Kind::Optional) ? Cell::boolean(arguments[0].held() != nullptr)
                                           : machine.no_overload("hasValue", arguments);
}

Cell held_value(Machine& machine, Arguments arguments) {
    if (!arguments[0].is(Kind::Optional)) {
        return machine.no_overload("value", arguments);
    }
    return arguments[0].held() != nullptr
               ? *arguments[0].held()
               : machine.fault("no_such_member", "value() of an optional that holds nothing");
}

constexpr auto core_table = std::array{
    Function{"size", CallStyle::Either, 1, 1, only(Kind::Int), size_of},
    Function{"string", CallStyle::Global, 1, 1, only(Kind::String), to_text},
    Function{"bytes", CallStyle::Global, 1, 1, only(Kind::Bytes), to_bytes},
    Function{"int", CallStyle::Global, 1, 1, only(Kind::Int), to_int},
    Function{"uint", CallStyle::Global, 1, 1, only(Kind::Uint), to_uint},
    Function{"double", CallStyle::Global, 1, 1, only(Kind::Double), to_double},
    Function{"bool", CallStyle::Global, 1, 1, only(Kind::Bool), to_bool},
    Function{"timestamp", CallStyle::Global, 1, 1, only(Kind::Timestamp), to_timestamp},
    Function{"duration", CallStyle::Global, 1, 1, only(Kind::Duration), to_duration},
    Function{"type", CallStyle::Global, 1, 1, only(Kind::Type), to_type},
    Function{"dyn", CallStyle::Global, 1, 1, any_kind, to_dyn},
    Function{"base64.encode", CallStyle::Global, 1, 1, only(Kind::String), encode_base64},
    Function{"base64.decode", CallStyle::Global, 1, 1, only(Kind::Bytes), decode_base64},
    Function{"optional.of", CallStyle::Global, 1, 1, only(Kind::Optional), optional_of},
    Function{"optional.none", CallStyle::Global, 0, 0, only(Kind::Optional), optional_none},
    Function{"optional.ofNonZeroValue", CallStyle::Global, 1, 1, only(Kind::Optional),
             optional_of_non_zero},
    Function{"hasValue", CallStyle::Member, 1, 1, only(Kind::Bool), has_value},
    Function{"value", CallStyle::Member, 1, 1, any_kind, held_value},
};

} // namespace

std::span<const Function> core_functions() {
    return core_table;
}

} // namespace sluice::expr::cel::runtime

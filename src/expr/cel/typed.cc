#include "expr/cel/typed.h"

#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/result.h"
#include "expr/cel/internal/evaluate.h"
#include "expr/cel/internal/lexer.h"
#include "expr/cel/internal/parser.h"
#include "expr/cel/runtime/real_text.h"
#include "expr/cel/runtime/text_of.h"

namespace sluice::expr::cel {
namespace {

using runtime::Cell;
using runtime::Kind;
using runtime::Machine;

std::unexpected<Fault> bad_typed(std::string_view what) {
    return std::unexpected(Fault{"bad_input", fmt::format("not a typed value: {}", what), 0});
}

/// Typed values to cells.
class Decoder {
public:
    explicit Decoder(Machine& machine) : machine_{machine} {}

    std::expected<Cell, Fault> read(const Value& typed, std::size_t depth = 0) {
        if (!typed.is_map() || typed.size() != 1 || depth > value_depth_max) {
            return bad_typed("expected a map with one member, such as {\"int\": \"5\"}");
        }
        const auto& [kind, held] = typed.as_map()[0];
        if (kind == "null") {
            return Cell{};
        }
        if (kind == "bool" && held.is_bool()) {
            return Cell::boolean(held.as_bool());
        }
        if (kind == "list" && held.is_list()) {
            return read_list(held, depth);
        }
        if (kind == "map" && held.is_list()) {
            return read_map(held, depth);
        }
        if ((kind == "timestamp" || kind == "duration") && held.is_map()) {
            return read_time(kind, held);
        }
        return held.is_string() ? read_text(kind, held.as_string()) : bad_typed(kind);
    }

private:
    template <typename Number>
    static std::optional<Number> whole(std::string_view text) {
        auto number = Number{};
        auto end = text.data() + text.size();
        auto result = std::from_chars(text.data(), end, number);
        return result.ec == std::errc{} && result.ptr == end ? std::optional{number} : std::nullopt;
    }

    std::expected<Cell, Fault> read_text(std::string_view kind, std::string_view text) {
        if (kind == "string") {
            return machine_.text(text);
        }
        if (kind == "int") {
            auto number = whole<std::int64_t>(text);
            return number ? std::expected<Cell, Fault>{Cell::integer(*number)} : bad_typed(text);
        }
        if (kind == "uint") {
            auto number = whole<std::uint64_t>(text);
            return number ? std::expected<Cell, Fault>{Cell::unsigned_integer(*number)}
                          : bad_typed(text);
        }
        if (kind == "double") {
            auto number = runtime::read_double(text);
            return number ? std::expected<Cell, Fault>{Cell::real(*number)} : bad_typed(text);
        }
        if (kind == "bytes") {
            auto bytes = base64_decode(text);
            return bytes ? std::expected<Cell, Fault>{machine_.bytes(*bytes)} : bad_typed(text);
        }
        auto named = runtime::kind_named(text);
        return kind == "type" && named != Kind::Fault
                   ? std::expected<Cell, Fault>{Cell::type(named)}
                   : bad_typed(text);
    }

    std::expected<Cell, Fault> read_list(const Value& items, std::size_t depth) {
        auto list = runtime::ListBuilder{machine_};
        for (const auto& item : items.as_list()) {
            list.add(TRY(read(item, depth + 1)));
        }
        return list.finish();
    }

    std::expected<Cell, Fault> read_map(const Value& entries, std::size_t depth) {
        auto map = runtime::MapBuilder{machine_};
        for (const auto& entry : entries.as_list()) {
            if (!entry.is_list() || entry.size() != 2) {
                return bad_typed("expected [key, value] in a map");
            }
            auto key = TRY(read(entry.as_list()[0], depth + 1));
            map.add(key, TRY(read(entry.as_list()[1], depth + 1)));
        }
        return map.finish();
    }

    static std::expected<Cell, Fault> read_time(std::string_view kind, const Value& parts) {
        constexpr auto billion = std::int64_t{1'000'000'000};
        const auto* seconds = parts.find("seconds");
        const auto* nanos = parts.find("nanos");
        auto whole_seconds = seconds != nullptr && seconds->is_string()
                                 ? whole<std::int64_t>(seconds->as_string())
                                 : std::optional<std::int64_t>{0};
        auto rest = nanos != nullptr && nanos->is_int() ? nanos->as_int() : 0;
        auto total = std::int64_t{0};
        if (!whole_seconds || rest <= -billion || rest >= billion) {
            return bad_typed(kind);
        }
        if (kind == "timestamp") {
            return Cell::timestamp({*whole_seconds, static_cast<std::uint32_t>(rest)});
        }
        auto is_out = __builtin_mul_overflow(*whole_seconds, billion, &total) ||
                      __builtin_add_overflow(total, rest, &total);
        return is_out ? bad_typed(kind) : std::expected<Cell, Fault>{Cell::duration(total)};
    }

    Machine& machine_;
};

/// Cells to typed values.
class Encoder {
public:
    explicit Encoder(Machine& machine) : machine_{machine} {}

    /// Null when the budget does not allow more; the meter is exhausted then.
    Value write(const Cell& cell, std::size_t depth = 0) {
        auto bytes = cell.is(Kind::String) || cell.is(Kind::Bytes) ? cell.size() : sizeof(Value);
        if (depth > value_depth_max || !machine_.meter().spend(1) ||
            !machine_.meter().spend_output(bytes)) {
            machine_.meter().exhaust();
            return {};
        }
        switch (cell.kind()) {
            case Kind::List: return write_list(cell, depth);
            case Kind::Map: return write_map(cell, depth);
            case Kind::Optional:
                return Value::object(
                    {{"optional",
                      cell.held() == nullptr ? Value{} : write(*cell.held(), depth + 1)}});
            case Kind::Timestamp:
                return Value::object(
                    {{"timestamp", time(cell.as_timestamp().seconds, cell.as_timestamp().nanos)}});
            case Kind::Duration:
                return Value::object({{"duration", time(cell.as_duration() / 1'000'000'000,
                                                        cell.as_duration() % 1'000'000'000)}});
            default: return write_scalar(cell);
        }
    }

private:
    static Value time(std::int64_t seconds, std::int64_t nanos) {
        return Value::object({{"seconds", std::to_string(seconds)}, {"nanos", nanos}});
    }

    static std::string write_real(double number) {
        auto text = runtime::write_double(number);
        return text.find_first_of(".eNI") == std::string::npos ? text + ".0" : text;
    }

    static Value write_scalar(const Cell& cell) {
        switch (cell.kind()) {
            case Kind::Null: return Value::object({{"null", Value{}}});
            case Kind::Bool: return Value::object({{"bool", cell.as_bool()}});
            case Kind::Double: return Value::object({{"double", write_real(cell.as_double())}});
            case Kind::Bytes: return Value::object({{"bytes", base64_encode(cell.text())}});
            case Kind::Type: return Value::object({{"type", runtime::name_of(cell.as_type())}});
            default:
                return Value::object(
                    {{std::string{runtime::name_of(cell.kind())}, runtime::text_of(cell)}});
        }
    }

    Value write_list(const Cell& list, std::size_t depth) {
        auto items = std::vector<Value>{};
        for (auto at = std::size_t{0}; at < list.size() && !machine_.meter().is_exhausted(); ++at) {
            items.push_back(write(list.item(at), depth + 1));
        }
        return Value::object({{"list", Value::list(std::move(items))}});
    }

    Value write_map(const Cell& map, std::size_t depth) {
        auto entries = std::vector<Value>{};
        for (auto at = std::size_t{0}; at < map.size() && !machine_.meter().is_exhausted(); ++at) {
            auto entry = map.entry(at);
            entries.push_back(
                Value::list({write(entry.key, depth + 1), write(entry.value, depth + 1)}));
        }
        return Value::object({{"map", Value::list(std::move(entries))}});
    }

    Machine& machine_;
};

struct Variables {
    std::vector<std::string> names;
    std::vector<Cell> cells;
};

std::expected<Variables, Fault> read_bindings(const TypedCase& one, Machine& machine) {
    auto variables = Variables{};
    if (one.bindings.is_map()) {
        for (const auto& [name, value] : one.bindings.as_map()) {
            variables.names.push_back(name);
            variables.cells.push_back(Cell::view(value));
        }
    }
    if (one.typed_bindings.is_map()) {
        for (const auto& [name, typed] : one.typed_bindings.as_map()) {
            variables.names.push_back(name);
            variables.cells.push_back(TRY(Decoder{machine}.read(typed)));
        }
    }
    return variables;
}

Outcome write_typed(const Cell& cell, Machine& machine) {
    auto value = cell.is_fault() ? Value{} : Encoder{machine}.write(cell);
    auto fault = machine.meter().is_exhausted() ? machine.budget_fault() : cell;
    return fault.is_fault() ? runtime::to_outcome(fault, machine) : Outcome{std::move(value)};
}

std::expected<Outcome, Fault> run_case(const TypedCase& one, Machine& machine, bool typed) {
    auto variables = TRY(read_bindings(one, machine));
    TRY(internal::check_encoding(one.text));
    auto tokens = TRY(internal::tokenize(one.text, 0, internal::Until::End));
    auto options = CompileOptions{};
    auto tree = TRY(internal::parse(one.text, tokens,
                                    {.options = options,
                                     .variables = variables.names,
                                     .container = one.container,
                                     .is_lenient = true}));
    auto cell = internal::evaluate(tree, tree.root, {.variables = variables.cells}, machine);
    return typed ? write_typed(cell, machine) : runtime::to_outcome(cell, machine);
}

} // namespace

Outcome evaluate_case(const TypedCase& one, const Budget& budget, bool typed) {
    auto meter = Meter{budget};
    auto arena = runtime::Arena{budget.memory_bytes_max};
    auto machine = Machine{meter, arena};
    auto outcome = run_case(one, machine, typed);
    return outcome ? *std::move(outcome) : Outcome{std::move(outcome).error()};
}

} // namespace sluice::expr::cel

#include <vector>

#include "base/invariant.h"
#include "expr/cel/runtime/machine.h"
#include "expr/cel/runtime/text_of.h"

namespace sluice::expr::cel::runtime {
namespace {

/// Makes values of cells. A value can be small and what it stands for huge, since its parts are
/// shared: every part is paid for.
class Yield {
public:
    explicit Yield(Machine& machine)
        : machine_{machine}, bytes_left_{machine.meter().output_bytes_left()} {}

    bool write(const Cell& cell, Value& out, std::size_t depth = 0) {
        auto bytes = cell.is(Kind::String) || cell.is(Kind::Bytes) ? cell.size() : sizeof(Value);
        if (depth > value_depth_max || !machine_.meter().spend(1) || !spend(bytes)) {
            return false;
        }
        if (const auto* viewed = cell.viewed()) {
            out = *viewed;
            return true;
        }
        switch (cell.kind()) {
            case Kind::List: return write_list(cell, out, depth);
            case Kind::Map: return write_map(cell, out, depth);
            case Kind::Optional:
                return cell.held() == nullptr || write(*cell.held(), out, depth + 1);
            default: out = scalar(cell); return true;
        }
    }

private:
    /// Of one result: what becomes of it, and whether it counts twice, the caller knows.
    bool spend(std::size_t bytes) {
        auto fits = bytes <= bytes_left_;
        bytes_left_ -= fits ? bytes : 0;
        return fits;
    }

    static Value scalar(const Cell& cell) {
        switch (cell.kind()) {
            case Kind::Null: return {};
            case Kind::Bool: return cell.as_bool();
            case Kind::Int: return cell.as_int();
            case Kind::Uint: return cell.as_uint();
            case Kind::Double: return cell.as_double();
            case Kind::String: return cell.text();
            case Kind::Bytes: return Value::bytes(cell.text());
            case Kind::Timestamp: return timestamp(cell.as_timestamp());
            case Kind::Duration: return Nanos{cell.as_duration()};
            default: return text_of(cell);
        }
    }

    /// Those far from today have no room in a Time and become texts.
    static Value timestamp(Moment moment) {
        constexpr auto billion = std::int64_t{1'000'000'000};
        auto nanos = std::int64_t{0};
        auto is_out = __builtin_mul_overflow(moment.seconds, billion, &nanos) ||
                      __builtin_add_overflow(nanos, std::int64_t{moment.nanos}, &nanos);
        return is_out ? Value{write_timestamp(moment)} : Value{Time{Nanos{nanos}}};
    }

    bool write_list(const Cell& cell, Value& out, std::size_t depth) {
        auto items = std::vector<Value>{};
        for (auto at = std::size_t{0}; at < cell.size(); ++at) {
            if (!write(cell.item(at), items.emplace_back(), depth + 1)) {
                return false;
            }
        }
        out = Value::list(std::move(items));
        return true;
    }

    bool write_map(const Cell& cell, Value& out, std::size_t depth) {
        auto members = std::vector<value::Member>{};
        for (auto at = std::size_t{0}; at < cell.size(); ++at) {
            auto entry = cell.entry(at);
            auto& member = members.emplace_back(value::Member{text_of(entry.key), {}});
            if (!spend(member.key.size()) || !write(entry.value, member.value, depth + 1)) {
                return false;
            }
        }
        out = Value::map(std::move(members));
        return true;
    }

    Machine& machine_;
    std::size_t bytes_left_;
};

Fault to_fault(const FaultNote& note) {
    auto is_placed = note.position != FaultNote::unplaced;
    return {std::string{note.code}, std::string{note.message}, is_placed ? note.position : 0};
}

} // namespace

Outcome to_outcome(const Cell& cell, Machine& machine) {
    auto outcome = Outcome{};
    if (cell.is_fault()) {
        outcome = to_fault(cell.note());
    } else if (!Yield{machine}.write(cell, std::get<Value>(outcome))) {
        outcome = to_fault(machine.budget_fault().note());
    }
    return outcome;
}

} // namespace sluice::expr::cel::runtime

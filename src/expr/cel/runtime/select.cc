#include "expr/cel/runtime/select.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "expr/cel/runtime/comparison.h"
#include "expr/cel/runtime/excerpt.h"

namespace sluice::expr::cel::runtime {
namespace {

/// The place that an index names, the size when that is outside; nothing when it is no index.
std::optional<std::size_t> place_in(std::size_t size, const Cell& index) {
    switch (index.kind()) {
        case Kind::Int:
            return index.as_int() < 0 ? size : std::min<std::uint64_t>(index.as_uint(), size);
        case Kind::Uint: return std::min<std::uint64_t>(index.as_uint(), size);
        case Kind::Double: break;
        default: return std::nullopt;
    }
    auto number = index.as_double();
    if (std::trunc(number) != number) {
        return std::nullopt;
    }
    return number >= 0 && number < static_cast<double>(size) ? static_cast<std::size_t>(number)
                                                             : size;
}

enum class Search : std::uint8_t { Found, Missing, Failed };

/// Of a list or a map; `found` holds the fault when it failed.
Search look_up(Machine& machine, const Cell& left, const Cell& key, Cell& found) {
    if (left.is(Kind::Map)) {
        return left.find(key, found) ? Search::Found : Search::Missing;
    }
    if (!left.is(Kind::List)) {
        found = machine.fault("no_such_overload", "[] expects a list or a map, found {}",
                              name_of(left.kind()));
        return Search::Failed;
    }
    auto place = place_in(left.size(), key);
    if (!place) {
        found = machine.fault("no_such_overload", "a list is indexed by whole numbers, found {}",
                              name_of(key.kind()));
        return Search::Failed;
    }
    if (*place >= left.size()) {
        return Search::Missing;
    }
    found = left.item(*place);
    return Search::Found;
}

Cell missing(Machine& machine, const Cell& left, const Cell& key) {
    if (left.is(Kind::List)) {
        return machine.fault("no_such_member", "the index is outside the list of {}", left.size());
    }
    return key.is(Kind::String)
               ? machine.fault("no_such_member", "there is no member \"{}\"", excerpt(key.text()))
               : machine.fault("no_such_member", "the map has no such key of kind {}",
                               name_of(key.kind()));
}

Cell no_map(Machine& machine, const Cell& left, std::string_view name) {
    return machine.fault("no_such_overload", "expected a map with \"{}\", found {}", excerpt(name),
                         name_of(left.kind()));
}

} // namespace

Cell select(Machine& machine, const Cell& left, std::string_view name) {
    if (left.is(Kind::Optional)) {
        return select_optional(machine, left, name);
    }
    if (!left.is(Kind::Map)) {
        return no_map(machine, left, name);
    }
    auto found = Cell{};
    return left.find(name, found) ? found : missing(machine, left, Cell::string(name));
}

Cell select_optional(Machine& machine, const Cell& left, std::string_view name) {
    const auto* from = left.is(Kind::Optional) ? left.held() : &left;
    if (from == nullptr) {
        return left;
    }
    if (!from->is(Kind::Map)) {
        return no_map(machine, *from, name);
    }
    auto found = Cell{};
    return from->find(name, found) ? machine.some(found) : Machine::none();
}

Cell has_member(Machine& machine, const Cell& left, std::string_view name) {
    const auto* from = left.is(Kind::Optional) ? left.held() : &left;
    if (from == nullptr) {
        return Cell::boolean(false);
    }
    auto found = Cell{};
    return from->is(Kind::Map) ? Cell::boolean(from->find(name, found))
                               : no_map(machine, *from, name);
}

Cell item_at(Machine& machine, const Cell& left, const Cell& key) {
    if (left.is(Kind::Optional)) {
        return item_at_optional(machine, left, key);
    }
    auto found = Cell{};
    return look_up(machine, left, key, found) == Search::Missing ? missing(machine, left, key)
                                                                 : found;
}

Cell item_at_optional(Machine& machine, const Cell& left, const Cell& key) {
    const auto* from = left.is(Kind::Optional) ? left.held() : &left;
    if (from == nullptr) {
        return left;
    }
    auto found = Cell{};
    switch (look_up(machine, *from, key, found)) {
        case Search::Found: return machine.some(found);
        case Search::Missing: return Machine::none();
        default: return found;
    }
}

Cell is_in(Machine& machine, const Cell& needle, const Cell& container) {
    auto found = Cell{};
    if (container.is(Kind::Map)) {
        return Cell::boolean(container.find(needle, found));
    }
    if (!container.is(Kind::List)) {
        return machine.fault("no_such_overload", "\"in\" expects a list or a map, found {}",
                             name_of(container.kind()));
    }
    for (auto at = std::size_t{0}; at < container.size(); ++at) {
        if (!machine.meter().spend(1)) {
            return machine.budget_fault();
        }
        if (are_equal(needle, container.item(at), machine.meter())) {
            return Cell::boolean(true);
        }
    }
    return Cell::boolean(false);
}

} // namespace sluice::expr::cel::runtime

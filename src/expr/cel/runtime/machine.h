#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "expr/cel/runtime/arena.h"
#include "expr/cel/runtime/cell.h"
#include "expr/meter.h"
#include "expr/program.h"

namespace sluice::expr::cel::runtime {

/// What operators and functions work with: where values are made, and what is left of the budget.
/// Whatever does not fit the budget becomes a fault, so that callers need not ask.
class Machine {
public:
    Machine(Meter& meter, Arena& arena) : meter_{meter}, arena_{arena} {}

    Meter& meter() { return meter_; }
    Arena& arena() { return arena_; }

    /// Copies of texts that were made elsewhere.
    Cell text(std::string_view text);
    Cell bytes(std::string_view bytes);
    Cell list(std::span<const Cell> items);
    Cell some(const Cell& held);
    static Cell none() { return Cell::optional(nullptr); }
    Cell network(Kind kind, const Interval& interval);

    /// Whether a text of so many bytes may be made; spends what making it costs.
    bool affords_text(std::size_t bytes);

    /// `code` must be a literal.
    template <typename... Args>
    Cell fault(std::string_view code, fmt::format_string<Args...> format, Args&&... args) {
        return make_fault(code, fmt::format(format, std::forward<Args>(args)...));
    }
    /// Spends all of it, too.
    Cell budget_fault();
    /// `there is no size(int)`
    Cell no_overload(std::string_view function, std::span<const Cell> arguments);

private:
    Cell make_fault(std::string_view code, std::string_view message);
    std::string_view copy(std::string_view text, bool& is_done);

    Meter& meter_;
    Arena& arena_;
    FaultNote budget_note_{.code = "budget",
                           .message = "the expression does more than its budget allows"};
};

/// Collects a map; keys stay in their order.
class MapBuilder {
public:
    enum class Added : std::uint8_t { New, Repeated, TooMany };

    explicit MapBuilder(Machine& machine) : machine_{machine} {}
    Added add(const Cell& key, const Cell& value);
    Cell finish();
    std::size_t size() const { return entries_.size(); }

private:
    bool grow();
    void link(std::size_t place);

    Machine& machine_;
    std::span<Entry> room_;
    std::span<Entry> entries_; ///< The used part of it.
    std::span<std::uint32_t> slots_;
};

/// Collects a list.
class ListBuilder {
public:
    explicit ListBuilder(Machine& machine) : machine_{machine} {}
    /// False when there is no room left.
    bool add(const Cell& item);
    Cell finish() const { return Cell::list(room_.first(size_)); }

private:
    Machine& machine_;
    std::span<Cell> room_;
    std::size_t size_ = 0;
};

/// As the caller gets it. Map keys become texts, types their names, optionals what they hold or
/// null.
Outcome to_outcome(const Cell& cell, Machine& machine);

} // namespace sluice::expr::cel::runtime

#include "expr/cel/runtime/regex.h"

namespace sluice::expr::cel::runtime {

std::unique_ptr<re2::RE2> make_pattern(std::string_view text) {
    auto options = re2::RE2::Options{re2::RE2::Quiet};
    options.set_max_mem(512L * 1024);
    return std::make_unique<re2::RE2>(re2::StringPiece{text.data(), text.size()}, options);
}

Cell matches(Machine& machine, const re2::RE2& pattern, const Cell& text) {
    constexpr auto work_per_step = std::size_t{1024};
    if (!text.is(Kind::String)) {
        return machine.fault("no_such_overload", "matches() expects a text, found {}",
                             name_of(text.kind()));
    }
    // At worst every byte meets every instruction.
    auto instructions = static_cast<std::size_t>(pattern.ProgramSize());
    if (!machine.meter().spend(text.size() * instructions / work_per_step)) {
        return machine.budget_fault();
    }
    return Cell::boolean(re2::RE2::PartialMatch({text.text().data(), text.size()}, pattern));
}

} // namespace sluice::expr::cel::runtime

#include <utility>

#include "expr/cel/internal/evaluate.h"
#include "expr/cel/internal/fault.h"
#include "expr/cel/internal/pattern.h"
#include "expr/meter.h"
#include "value/json.h"

namespace sluice::expr::cel::internal {
namespace {

/// Takes from `left` what the JSON of a value has at least; false when that is too much. A value
/// can be small and its JSON huge, since its parts are shared.
bool fits(const Value& value, std::size_t& left, std::size_t depth) {
    auto bytes = value.is_string() || value.is_bytes() ? value.size() + 2 : std::size_t{1};
    if (bytes > left || depth > value_depth_max) {
        return false;
    }
    left -= bytes;
    if (value.is_list()) {
        for (const auto& item : value.as_list()) {
            if (!fits(item, left, depth + 1)) {
                return false;
            }
        }
    } else if (value.is_map()) {
        for (const auto& [key, member] : value.as_map()) {
            if (!fits(member, left, depth + 1)) {
                return false;
            }
        }
    }
    return true;
}

std::string text_of(const Value& value) {
    if (value.is_string()) {
        return std::string{value.as_string()};
    }
    auto json = value::to_json(value);
    // Times and bytes have a text for JSON: within a text it needs no quotes of its own.
    return json.starts_with('"') ? json.substr(1, json.size() - 2) : json;
}

class Filling {
public:
    Filling(const Bindings& bindings, const Budget& budget)
        : bindings_{bindings}, budget_{budget}, meter_{budget} {}

    Outcome fill(const Pattern& pattern) {
        switch (pattern.form) {
            case Pattern::Form::Constant: return pattern.constant;
            case Pattern::Form::Text: return named(text(pattern.pieces), pattern.where);
            default: return items(pattern);
        }
    }

private:
    static Outcome named(Outcome outcome, const std::string& where) {
        if (auto* found = std::get_if<Fault>(&outcome); found != nullptr && !where.empty()) {
            found->message = fmt::format("in \"{}\": {}", where, found->message);
        }
        return outcome;
    }

    Outcome text(const std::vector<Piece>& pieces) {
        if (pieces.size() == 1) {
            return evaluate(*pieces[0].expression, bindings_, budget_, meter_);
        }
        auto out = std::string{};
        for (const auto& piece : pieces) {
            auto outcome = piece.expression
                               ? evaluate(*piece.expression, bindings_, budget_, meter_)
                               : Outcome{Value{piece.literal}};
            if (is_fault(outcome)) {
                return outcome;
            }
            if (!append(std::get<Value>(outcome), out)) {
                return budget_fault();
            }
        }
        return Value{out};
    }

    bool append(const Value& value, std::string& out) {
        auto left = meter_.output_bytes_left();
        if (!value.is_string() && !fits(value, left, 0)) {
            meter_.exhaust();
            return false;
        }
        auto text = text_of(value);
        if (!meter_.spend_output(text.size()) || !meter_.spend_text(text.size())) {
            return false;
        }
        out += text;
        return true;
    }

    Outcome items(const Pattern& pattern) {
        auto values = std::vector<Value>{};
        values.reserve(pattern.items.size());
        for (const auto& item : pattern.items) {
            auto outcome = fill(item);
            if (is_fault(outcome)) {
                return outcome;
            }
            values.push_back(std::get<Value>(std::move(outcome)));
        }
        return assemble(pattern, std::move(values));
    }

    const Bindings& bindings_;
    const Budget& budget_;
    Meter meter_;
};

} // namespace

Outcome fill(const Pattern& pattern, const Bindings& bindings, const Budget& budget) {
    return Filling{bindings, budget}.fill(pattern);
}

} // namespace sluice::expr::cel::internal

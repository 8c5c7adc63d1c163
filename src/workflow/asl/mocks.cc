#include "workflow/asl/mocks.h"

#include <algorithm>

#include <fmt/format.h>

#include "value/json.h"
#include "value/wording.h"

namespace sluice::workflow::asl {

namespace {

/// The end of a placeholder that begins here; npos: none does.
std::size_t placeholder_end(std::string_view text, std::size_t at) {
    return text[at] == '<' ? text.find('>', at) : std::string_view::npos;
}

bool is_text_like(std::string_view expected, std::string_view got) {
    auto at = std::size_t{0};
    auto here = std::size_t{0};
    auto resume = std::string_view::npos; // Behind the last placeholder,
    auto taken = std::size_t{0};          // which stands for what is before this.
    while (here < got.size()) {
        auto end = at < expected.size() ? placeholder_end(expected, at) : std::string_view::npos;
        if (end != std::string_view::npos) {
            resume = end + 1;
            taken = here;
            at = resume;
        } else if (at < expected.size() && expected[at] == got[here]) {
            ++at;
            ++here;
        } else if (resume != std::string_view::npos) {
            at = resume;
            here = ++taken;
        } else {
            return false;
        }
    }
    while (at < expected.size()) {
        auto end = placeholder_end(expected, at);
        if (end == std::string_view::npos) {
            return false;
        }
        at = end + 1;
    }
    return true;
}

double as_double(const Value& number) {
    return number.is_int()    ? static_cast<double>(number.as_int())
           : number.is_uint() ? static_cast<double>(number.as_uint())
                              : number.as_double();
}

} // namespace

bool is_like(const Value& expected, const Value& got) {
    if (expected.is_number() && got.is_number()) {
        return expected == got || as_double(expected) == as_double(got);
    }
    if (expected.is_string() && got.is_string()) {
        return expected == got || is_text_like(expected.as_string(), got.as_string());
    }
    if (expected.is_list() && got.is_list()) {
        return std::ranges::equal(expected.as_list(), got.as_list(), is_like);
    }
    if (expected.is_map() && got.is_map()) {
        return expected.size() == got.size() &&
               std::ranges::all_of(expected.as_map(), [&](const value::Member& member) {
                   const auto* other = got.find(member.key);
                   return other != nullptr && is_like(member.value, *other);
               });
    }
    return expected == got;
}

Result<Mocks> Mocks::read(const Value& form) {
    auto mocks = Mocks{};
    if (form.is_null()) {
        return mocks;
    }
    if (!form.is_list()) {
        return fail(Errc::InvalidInput,
                    "found {}: expected a list of {{\"state\", \"input\", \"outcomes\"}}",
                    value::brief(form, 60));
    }
    for (auto at = std::size_t{0}; at < form.size(); ++at) {
        const auto& each = form.as_list()[at];
        const auto* outcomes = each.find("outcomes");
        if (outcomes == nullptr || !outcomes->is_list() || outcomes->size() == 0) {
            return fail(Errc::InvalidInput, "mock {} has no outcomes: expected a list of them", at);
        }
        const auto* input = each.find("input");
        const auto* state = each.find("state");
        const auto* any = each.find("anyInput");
        auto mock =
            Mock{.takes_any_input = input == nullptr || (any != nullptr && *any == Value{true}),
                 .input = input == nullptr ? Value{} : *input};
        if (state != nullptr && state->is_string()) {
            mock.state = std::string{state->as_string()};
        }
        mock.outcomes.assign(outcomes->as_list().begin(), outcomes->as_list().end());
        mocks.mocks_.push_back(std::move(mock));
    }
    return mocks;
}

bool Mocks::has(std::string_view state) const {
    return std::ranges::any_of(
        mocks_, [&](const Mock& mock) { return mock.state.empty() || mock.state == state; });
}

Result<Value> Mocks::answer(std::string_view state, const Value& input) {
    auto found = std::ranges::find_if(mocks_, [&](const Mock& mock) {
        return (mock.state.empty() || mock.state == state) &&
               (mock.takes_any_input || is_like(mock.input, input));
    });
    if (found == mocks_.end()) {
        return fail(Errc::NotFound,
                    "the task of state \"{}\" was called with {}, and no mock is for that: write "
                    "{{\"state\": \"{}\", \"anyInput\": true, \"outcomes\": [{{\"result\": …}}]}}",
                    state, value::brief(input, 400), state);
    }
    auto outcome = found->outcomes[std::min(found->calls++, found->outcomes.size() - 1)];
    return outcome.find("echo") == nullptr ? outcome : outcome.with("result", input);
}

} // namespace sluice::workflow::asl

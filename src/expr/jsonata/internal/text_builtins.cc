#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "expr/jsonata/internal/builtin.h"
#include "expr/jsonata/internal/evaluator.h"
#include "expr/jsonata/internal/letter_case.h"
#include "expr/jsonata/internal/operators.h"
#include "expr/jsonata/internal/raise.h"
#include "expr/jsonata/internal/text.h"

namespace sluice::expr::jsonata::internal {
namespace {

Item run_string(const Call& call) {
    if (call[0].is_undefined() || call[0].is_string()) {
        return call[0];
    }
    auto is_outer = call[0].type == Type::Array && call[0].array->is_outer;
    auto item = is_outer ? call[0].array->at(0) : call[0];
    auto text = std::string{};
    write_text(item, truth_of(call[1], call.arena), text, call.evaluator);
    return call.evaluator.make_text(text);
}

Item run_substring(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto text = call[0].as_text();
    call.evaluator.spend(text.size() / 64);
    auto size = static_cast<double>(count_characters(text));
    auto start = call[1].is_undefined() ? 0.0 : call[1].as_double();
    start = size + start < 0 ? 0 : start;
    auto end = size;
    if (!call[2].is_undefined()) {
        auto length = call[2].as_double();
        if (length <= 0) {
            return Item::of(std::string_view{});
        }
        end = start >= 0 ? start + length : size + start + length;
    }
    auto place_of = [&](double place) {
        auto whole = std::trunc(place);
        return std::clamp(whole < 0 ? size + whole : whole, 0.0, size);
    };
    auto first = byte_of_character(text, static_cast<std::size_t>(place_of(start)));
    auto last = byte_of_character(text, static_cast<std::size_t>(place_of(end)));
    return Item::of(text.substr(first, last > first ? last - first : 0));
}

Item run_substring_before(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    return Item::of(call[0].as_text().substr(0, call[0].as_text().find(call[1].as_text())));
}

Item run_substring_after(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto text = call[0].as_text();
    auto at = text.find(call[1].as_text());
    return at == text.npos ? call[0] : Item::of(text.substr(at + call[1].length));
}

Item run_lowercase(const Call& call) {
    return call[0].is_undefined() ? Item{} : call.evaluator.make_text(lower_text(call[0].as_text()));
}

Item run_uppercase(const Call& call) {
    return call[0].is_undefined() ? Item{} : call.evaluator.make_text(upper_text(call[0].as_text()));
}

Item run_length(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    call.evaluator.spend(call[0].length / 64);
    return Item::of(static_cast<std::int64_t>(count_characters(call[0].as_text())));
}

Item run_trim(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto out = std::string{};
    auto is_gap = false;
    for (auto character : call[0].as_text()) {
        if (std::string_view{" \t\n\r"}.contains(character)) {
            is_gap = !out.empty();
            continue;
        }
        out += is_gap ? " " : "";
        out += character;
        is_gap = false;
    }
    return call.evaluator.make_text(out);
}

Item run_pad(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto text = call[0].as_text();
    auto width = call[1].is_undefined() ? 0.0 : call[1].as_double();
    auto filler = call[2].is_undefined() || call[2].length == 0 ? std::string_view{" "}
                                                                : call[2].as_text();
    auto missing = std::floor(std::abs(width) - static_cast<double>(count_characters(text)));
    if (!(missing > 0)) {
        return call[0];
    }
    if (missing > static_cast<double>(call.evaluator.meter().text_bytes_max())) {
        raise("U1001", "a padded string is longer than the budget allows");
    }
    auto padding = std::string{};
    auto at = std::size_t{0};
    for (auto count = static_cast<std::size_t>(missing); count > 0; --count) {
        auto size = character_at(filler, at).size;
        padding += filler.substr(at, size);
        at = at + size < filler.size() ? at + size : 0;
    }
    return call.evaluator.make_text(width > 0 ? std::string{text} + padding
                                              : padding + std::string{text});
}

Item run_join(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    auto separator = call[1].is_undefined() ? std::string_view{} : call[1].as_text();
    auto items = Items{call[0], call.arena};
    auto out = std::string{};
    for (auto i = std::size_t{0}; i < items.size(); ++i) {
        out += i > 0 ? separator : std::string_view{};
        out += items[i].as_text();
        if (out.size() > call.evaluator.meter().text_bytes_max()) {
            break; // Refused below.
        }
    }
    call.evaluator.spend(items.size() / 16);
    return call.evaluator.make_text(out);
}

} // namespace

std::span<const Builtin> text_builtins() {
    static constexpr auto builtins = std::to_array<Builtin>({
        {"string", "<x-b?:s>", 1, run_string},
        {"substring", "<s-nn?:s>", 3, run_substring},
        {"substringBefore", "<s-s:s>", 2, run_substring_before},
        {"substringAfter", "<s-s:s>", 2, run_substring_after},
        {"lowercase", "<s-:s>", 1, run_lowercase},
        {"uppercase", "<s-:s>", 1, run_uppercase},
        {"length", "<s-:n>", 1, run_length},
        {"trim", "<s-:s>", 1, run_trim},
        {"pad", "<s-ns?:s>", 3, run_pad},
        {"join", "<a<s>s?:s>", 2, run_join},
    });
    return builtins;
}

} // namespace sluice::expr::jsonata::internal

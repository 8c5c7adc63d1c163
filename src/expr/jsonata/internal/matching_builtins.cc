#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include "expr/jsonata/internal/builtin.h"
#include "expr/jsonata/internal/evaluator.h"
#include "expr/jsonata/internal/raise.h"
#include "expr/jsonata/internal/text.h"

namespace sluice::expr::jsonata::internal {
namespace {

/// One match, of a regular expression or of an author's matcher.
struct Found {
    std::size_t begin = 0; ///< In bytes.
    std::size_t end = 0;
    Item object; ///< With `match`, `start`, `end`, `groups` and `next`.
};

Item unit_item(std::string_view text, std::size_t byte) {
    return Item::of(static_cast<std::int64_t>(count_units(text.substr(0, byte))));
}

/// What a matcher gave. Raises T1010 when it is no match.
std::optional<Found> found_of(const Item& object, std::string_view text, Arena& arena) {
    if (object.is_undefined()) {
        return std::nullopt;
    }
    auto start = member_of(object, "start", arena);
    auto end = member_of(object, "end", arena);
    auto groups = member_of(object, "groups", arena);
    auto next = member_of(object, "next", arena);
    auto match = member_of(object, "match", arena);
    if (!start.is_number() || !end.is_number() || !groups.is_array() || !match.is_string() ||
        !(next.is_function() || next.is_undefined())) {
        raise("T1010",
              "the matcher function argument passed to function does not return the correct "
              "object structure");
    }
    auto byte_of = [&](const Item& place) {
        return byte_of_unit(text, static_cast<std::size_t>(std::max(0.0, place.as_double())));
    };
    return Found{byte_of(start), byte_of(end), object};
}

/// Calls back for each match, as long as there are fewer than the limit.
void for_each_match(const Call& call, const Function& matcher, const Item& limit,
                    const std::function<void(const Found&)>& take) {
    auto text = call[0].as_text();
    auto& evaluator = call.evaluator;
    auto count = 0.0;
    auto argument = call[0];
    auto found = found_of(evaluator.call(matcher, {&argument, 1}, Item{}, call.frame), text, call.arena);
    while (found && (limit.is_undefined() || count < limit.as_double())) {
        evaluator.spend(1 + found->end / 64);
        take(*found);
        ++count;
        auto next = member_of(found->object, "next", call.arena);
        if (!next.is_function()) {
            return;
        }
        found = found_of(evaluator.call(*next.function, {}, Item{}, call.frame), text, call.arena);
    }
}

void check_limit(const Item& limit, std::string_view code, std::string_view function) {
    if (!limit.is_undefined() && limit.as_double() < 0) {
        raise(code, "the limit of the {} function must evaluate to a positive number", function);
    }
}

bool is_zero(const Item& limit) {
    return !limit.is_undefined() && limit.as_double() <= 0;
}

Item run_match(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    check_limit(call[2], "D3040", "match");
    auto* matches = make_sequence(call.arena);
    if (is_zero(call[2])) {
        return Item::of(matches);
    }
    for_each_match(call, *call[1].function, call[2], [&](const Found& found) {
        auto* object = call.arena.make<Object>();
        object->set(call.arena, "match", member_of(found.object, "match", call.arena));
        object->set(call.arena, "index", member_of(found.object, "start", call.arena));
        object->set(call.arena, "groups", member_of(found.object, "groups", call.arena));
        matches->push(call.arena, Item::of(object));
    });
    return Item::of(matches);
}

Item run_contains(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    if (call[1].is_string()) {
        call.evaluator.spend(call[0].length / 64);
        return Item::of(call[0].as_text().contains(call[1].as_text()));
    }
    if (!call[1].is_function()) {
        return Item::of(false);
    }
    auto is_found = false;
    auto once = Item::of(std::int64_t{1});
    for_each_match(call, *call[1].function, once, [&](const Found&) { is_found = true; });
    return Item::of(is_found);
}

/// `$1` and its like in a replacement; a number takes as many digits as there may be groups.
class Replacement {
public:
    Replacement(std::string_view pattern, const Item& match, Arena& arena)
        : pattern_{pattern},
          match_{member_of(match, "match", arena)},
          groups_{member_of(match, "groups", arena), arena} {}

    std::string fill() {
        auto out = std::string{};
        while (at_ < pattern_.size()) {
            auto dollar = std::min(pattern_.find('$', at_), pattern_.size());
            out += pattern_.substr(at_, dollar - at_);
            at_ = dollar + 1;
            if (dollar < pattern_.size()) {
                fill_one(out);
            }
        }
        return out;
    }

private:
    void fill_one(std::string& out) {
        auto next = at_ < pattern_.size() ? pattern_[at_] : '\0';
        if (next == '$' || next == '0') {
            out += next == '$' ? std::string_view{"$"} : match_.as_text();
            ++at_;
            return;
        }
        auto digits_max = groups_.size() == 0 ? std::size_t{1} : std::to_string(groups_.size()).size();
        auto number = read_number(digits_max);
        if (number && digits_max > 1 && *number > groups_.size()) {
            number = read_number(digits_max - 1);
        }
        if (!number) {
            out += '$';
            return;
        }
        if (*number >= 1 && *number <= groups_.size() && groups_[*number - 1].is_string()) {
            out += groups_[*number - 1].as_text();
        }
        at_ += std::to_string(*number).size();
    }

    std::optional<std::size_t> read_number(std::size_t digits_max) const {
        auto number = std::optional<std::size_t>{};
        for (auto digit : pattern_.substr(std::min(at_, pattern_.size()), digits_max)) {
            if (digit < '0' || digit > '9') {
                break;
            }
            number = number.value_or(0) * 10 + static_cast<std::size_t>(digit - '0');
        }
        return number;
    }

    std::string_view pattern_;
    Item match_;
    Items groups_;
    std::size_t at_ = 0;
};

Item replace_text(const Call& call) {
    auto text = call[0].as_text();
    auto wanted = call[1].as_text();
    auto with = call[2].is_string() ? call[2].as_text() : std::string_view{};
    auto out = std::string{};
    auto at = std::size_t{0};
    auto count = 0.0;
    for (auto found = text.find(wanted);
         found != text.npos && (call[3].is_undefined() || count < call[3].as_double());
         found = text.find(wanted, at)) {
        out += text.substr(at, found - at);
        out += with;
        at = found + wanted.size();
        ++count;
        if (out.size() > call.evaluator.meter().text_bytes_max()) {
            break; // Refused below.
        }
    }
    call.evaluator.spend(static_cast<std::uint64_t>(count) / 16);
    return call.evaluator.make_text(out + std::string{text.substr(at)});
}

Item replace_matches(const Call& call) {
    auto text = call[0].as_text();
    auto out = std::string{};
    auto at = std::size_t{0};
    for_each_match(call, *call[1].function, call[3], [&](const Found& found) {
        out += text.substr(at, found.begin > at ? found.begin - at : 0);
        if (call[2].is_function()) {
            auto argument = found.object;
            auto with = call.evaluator.call(*call[2].function, {&argument, 1}, Item{}, call.frame);
            if (!with.is_string()) {
                raise("D3012", "attempted to replace a matched string with a non-string value");
            }
            out += with.as_text();
        } else {
            out += Replacement{call[2].as_text(), found.object, call.arena}.fill();
        }
        if (out.size() > call.evaluator.meter().text_bytes_max()) {
            raise("U1001", "a replaced string is longer than the budget allows");
        }
        at = found.begin + member_of(found.object, "match", call.arena).length;
    });
    return call.evaluator.make_text(out + std::string{text.substr(std::min(at, text.size()))});
}

Item run_replace(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    if (call[1].is_string() && call[1].length == 0) {
        raise("D3010", "the second argument of the replace function cannot be an empty string");
    }
    check_limit(call[3], "D3011", "replace");
    if (is_zero(call[3])) {
        return call[0];
    }
    if (call[2].is_undefined() || call[1].is_undefined()) {
        raise("T0410", "argument 3 of function \"replace\" does not match function signature");
    }
    return call[1].is_string() ? replace_text(call) : replace_matches(call);
}

void split_text(const Call& call, double limit, Array& out) {
    auto text = call[0].as_text();
    auto separator = call[1].as_text();
    auto at = std::size_t{0};
    while (out.size < limit) {
        auto end = separator.empty() ? (at < text.size() ? at + character_at(text, at).size : text.npos)
                                     : text.find(separator, at);
        if (separator.empty() && end >= text.size()) {
            if (at < text.size()) {
                out.push(call.arena, Item::of(text.substr(at)));
            }
            return;
        }
        call.evaluator.spend(1);
        out.push(call.arena, Item::of(text.substr(at, end == text.npos ? end : end - at)));
        if (end == text.npos) {
            return;
        }
        at = end + separator.size();
    }
}

void split_matches(const Call& call, Array& out) {
    auto text = call[0].as_text();
    auto at = std::size_t{0};
    for_each_match(call, *call[1].function, call[2], [&](const Found& found) {
        out.push(call.arena, Item::of(text.substr(at, found.begin > at ? found.begin - at : 0)));
        at = std::min(found.end, text.size());
    });
    if (call[2].is_undefined() || out.size < call[2].as_double()) {
        out.push(call.arena, Item::of(text.substr(at)));
    }
}

Item run_split(const Call& call) {
    if (call[0].is_undefined()) {
        return {};
    }
    check_limit(call[2], "D3020", "split");
    auto* parts = make_array(call.arena);
    if (is_zero(call[2])) {
        return Item::of(parts);
    }
    if (call[1].is_function()) {
        split_matches(call, *parts);
    } else {
        auto limit = call[2].is_undefined() ? HUGE_VAL : std::floor(call[2].as_double());
        split_text(call, limit, *parts);
    }
    return Item::of(parts);
}

} // namespace

std::optional<Regex::Match> Evaluator::search(const Function& regex, std::string_view text,
                                              std::size_t from) {
    auto found = regex.node->regex->search(text, from, [this](std::size_t steps) { spend(steps); });
    if (found && found->groups[0]->begin == found->groups[0]->end) {
        raise("D1004", "regular expression matches zero length string");
    }
    return found;
}

Item Evaluator::regex_match(const Function& regex, const Item& text, std::size_t from) {
    auto view = text.as_text();
    auto found = from == 0 || from < view.size() ? search(regex, view, from) : std::nullopt;
    if (!found) {
        return {};
    }
    auto whole = *found->groups[0];
    auto text_between = [&](const Regex::Span& span) {
        return Item::of(view.substr(span.begin, span.end - span.begin));
    };
    auto* groups = make_array(arena_);
    for (auto i = std::size_t{1}; i < found->groups.size(); ++i) {
        groups->push(arena_, found->groups[i] ? text_between(*found->groups[i]) : Item{});
    }
    auto* next = arena_.make<Function>();
    next->kind = FunctionKind::NextMatch;
    next->node = regex.node;
    next->input = text;
    next->offset = whole.end;
    auto* object = arena_.make<Object>();
    object->set(arena_, "match", text_between(whole));
    object->set(arena_, "start", unit_item(view, whole.begin));
    object->set(arena_, "end", unit_item(view, whole.end));
    object->set(arena_, "groups", Item::of(groups));
    object->set(arena_, "next", Item::of(next));
    return Item::of(object);
}

std::span<const Builtin> matching_builtins() {
    static constexpr auto builtins = std::to_array<Builtin>({
        {"match", "<s-f<s:o>n?:a<o>>", 3, run_match},
        {"contains", "<s-(sf):b>", 2, run_contains},
        {"replace", "<s-(sf)(sf)n?:s>", 4, run_replace},
        {"split", "<s-(sf)n?:a<s>>", 3, run_split},
    });
    return builtins;
}

} // namespace sluice::expr::jsonata::internal

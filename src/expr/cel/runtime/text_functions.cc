#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "base/utf8.h"
#include "expr/cel/runtime/excerpt.h"
#include "expr/cel/runtime/format.h"
#include "expr/cel/runtime/function.h"
#include "expr/cel/runtime/regex.h"

namespace sluice::expr::cel::runtime {
namespace {

constexpr auto nowhere = std::string_view::npos;

bool are_texts(Arguments arguments) {
    return std::ranges::all_of(arguments, [](const Cell& each) { return each.is(Kind::String); });
}

/// Linear, which std::string_view::find is not.
std::size_t place_of(std::string_view part, std::string_view text) {
    if (part.empty()) {
        return 0;
    }
    const auto* found = memmem(text.data(), text.size(), part.data(), part.size());
    return found == nullptr
               ? nowhere
               : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

/// Bytes of the first character. What is no UTF-8 counts byte by byte.
std::size_t character_bytes(std::string_view text) {
    return std::max<std::size_t>(1, decode_utf8(text).size);
}

/// The byte at which a code point begins; nothing past the end.
std::optional<std::size_t> byte_at(std::string_view text, std::int64_t code_point) {
    auto at = std::size_t{0};
    while (code_point > 0 && at < text.size()) {
        at += character_bytes(text.substr(at));
        --code_point;
    }
    return code_point == 0 ? std::optional{at} : std::nullopt;
}

Cell outside_text(Machine& machine, const Cell& index, std::string_view text) {
    return machine.fault("no_such_member", "the index {} is outside the text of {}", index.as_int(),
                         count_code_points(text));
}

Cell contains(Machine& machine, Arguments arguments) {
    if (!are_texts(arguments)) {
        return machine.no_overload("contains", arguments);
    }
    machine.meter().spend_text(arguments[0].size() + arguments[1].size());
    return Cell::boolean(place_of(arguments[1].text(), arguments[0].text()) != nowhere);
}

Cell starts_with(Machine& machine, Arguments arguments) {
    if (!are_texts(arguments)) {
        return machine.no_overload("startsWith", arguments);
    }
    machine.meter().spend_text(arguments[1].size());
    return Cell::boolean(arguments[0].text().starts_with(arguments[1].text()));
}

Cell ends_with(Machine& machine, Arguments arguments) {
    if (!are_texts(arguments)) {
        return machine.no_overload("endsWith", arguments);
    }
    machine.meter().spend_text(arguments[1].size());
    return Cell::boolean(arguments[0].text().ends_with(arguments[1].text()));
}

/// With a pattern that was not known before: literal ones are compiled with the expression.
Cell matches_any(Machine& machine, Arguments arguments) {
    constexpr auto steps_per_byte = std::size_t{8};
    if (!are_texts(arguments)) {
        return machine.no_overload("matches", arguments);
    }
    if (!machine.meter().spend(100 + arguments[1].size() * steps_per_byte)) {
        return machine.budget_fault();
    }
    auto pattern = make_pattern(arguments[1].text());
    return pattern->ok()
               ? matches(machine, *pattern, arguments[0])
               : machine.fault("bad_pattern", "the pattern cannot be used: {}", pattern->error());
}

Cell char_at(Machine& machine, Arguments arguments) {
    if (!arguments[0].is(Kind::String) || !arguments[1].is(Kind::Int)) {
        return machine.no_overload("charAt", arguments);
    }
    auto text = arguments[0].text();
    machine.meter().spend_text(text.size());
    auto at = arguments[1].as_int() < 0 ? std::nullopt : byte_at(text, arguments[1].as_int());
    if (!at) {
        return outside_text(machine, arguments[1], text);
    }
    auto rest = text.substr(*at);
    return Cell::string(rest.empty() ? rest : rest.substr(0, character_bytes(rest)));
}

Cell index_of(Machine& machine, Arguments arguments) {
    auto has_offset = arguments.size() == 3;
    if (!are_texts(arguments.first(2)) || (has_offset && !arguments[2].is(Kind::Int))) {
        return machine.no_overload("indexOf", arguments);
    }
    auto text = arguments[0].text();
    machine.meter().spend_text(text.size() * 2);
    auto offset = has_offset ? arguments[2].as_int() : 0;
    auto from = offset < 0 ? std::nullopt : byte_at(text, offset);
    if (!from) {
        return outside_text(machine, arguments[2], text);
    }
    auto found = place_of(arguments[1].text(), text.substr(*from));
    return Cell::integer(found == nowhere ? -1
                                          : offset + static_cast<std::int64_t>(count_code_points(
                                                         text.substr(*from, found))));
}

/// Where the part begins last, at `from` or before. The texts are turned around, since searching
/// forwards is what is linear.
std::size_t last_place_of(std::string_view part, std::string_view text, std::size_t from) {
    auto end = std::min(text.size(), from + part.size());
    if (part.size() > end) {
        return nowhere;
    }
    auto turned_text = std::string{text.substr(0, end)};
    auto turned_part = std::string{part};
    std::ranges::reverse(turned_text);
    std::ranges::reverse(turned_part);
    auto found = place_of(turned_part, turned_text);
    return found == nowhere ? nowhere : end - found - part.size();
}

Cell last_index_of(Machine& machine, Arguments arguments) {
    auto has_offset = arguments.size() == 3;
    if (!are_texts(arguments.first(2)) || (has_offset && !arguments[2].is(Kind::Int))) {
        return machine.no_overload("lastIndexOf", arguments);
    }
    auto text = arguments[0].text();
    if (!machine.affords_text(text.size() * 2)) {
        return machine.budget_fault();
    }
    auto from = std::optional{text.size()};
    if (has_offset) {
        from = arguments[2].as_int() < 0 ? std::nullopt : byte_at(text, arguments[2].as_int());
    }
    if (!from) {
        return outside_text(machine, arguments[2], text);
    }
    auto found = last_place_of(arguments[1].text(), text, *from);
    return Cell::integer(found == nowhere
                             ? -1
                             : static_cast<std::int64_t>(count_code_points(text.substr(0, found))));
}

Cell join(Machine& machine, Arguments arguments) {
    auto has_separator = arguments.size() == 2;
    if (!arguments[0].is(Kind::List) || (has_separator && !arguments[1].is(Kind::String))) {
        return machine.no_overload("join", arguments);
    }
    auto out = std::string{};
    for (auto at = std::size_t{0}; at < arguments[0].size(); ++at) {
        auto item = arguments[0].item(at);
        if (!item.is(Kind::String)) {
            return machine.fault("no_such_overload", "join() expects texts, found {}",
                                 name_of(item.kind()));
        }
        auto separator = has_separator && at > 0 ? arguments[1].text() : std::string_view{};
        auto bytes = item.size() + separator.size();
        if (out.size() + bytes > machine.meter().text_bytes_max() || !machine.meter().spend(1) ||
            !machine.meter().spend_text(bytes)) {
            return machine.budget_fault();
        }
        out += separator;
        out += item.text();
    }
    return machine.text(out);
}

template <char first, char last, int shift>
Cell change_case(Machine& machine, Arguments arguments) {
    if (!are_texts(arguments)) {
        return machine.no_overload("lowerAscii/upperAscii", arguments);
    }
    if (!machine.affords_text(arguments[0].size())) {
        return machine.budget_fault();
    }
    auto text = std::string{arguments[0].text()};
    for (auto& letter : text) {
        letter = letter >= first && letter <= last ? static_cast<char>(letter + shift) : letter;
    }
    return machine.text(text);
}

/// Goes through a text, piece by piece, at each occurrence of a separator; an empty one stands
/// before and behind every character.
class Pieces {
public:
    Pieces(std::string_view text, std::string_view separator)
        : rest_{text}, separator_{separator} {}

    /// The bytes in front of the next occurrence; nothing when there is none.
    std::optional<std::string_view> next() {
        auto at = separator_.empty() ? (rest_.empty() ? nowhere : character_bytes(rest_))
                                     : place_of(separator_, rest_);
        if (at == nowhere) {
            return std::nullopt;
        }
        auto piece = rest_.substr(0, at);
        rest_.remove_prefix(at + separator_.size());
        return piece;
    }
    std::string_view rest() const { return rest_; }

private:
    std::string_view rest_;
    std::string_view separator_;
};

Cell replace(Machine& machine, Arguments arguments) {
    auto has_limit = arguments.size() == 4;
    if (!are_texts(arguments.first(3)) || (has_limit && !arguments[3].is(Kind::Int))) {
        return machine.no_overload("replace", arguments);
    }
    auto limit = has_limit ? arguments[3].as_int() : -1;
    auto replacement = arguments[2].text();
    auto out = std::string{};
    auto afford = [&](std::size_t bytes) {
        return out.size() + bytes <= machine.meter().text_bytes_max() && machine.meter().spend(1) &&
               machine.meter().spend_text(bytes);
    };
    auto pieces = Pieces{arguments[0].text(), arguments[1].text()};
    if (arguments[1].size() == 0 && limit != 0 && afford(replacement.size())) {
        out += replacement;
        --limit;
    }
    while (limit != 0) {
        auto piece = pieces.next();
        if (!piece) {
            break;
        }
        if (!afford(piece->size() + replacement.size())) {
            return machine.budget_fault();
        }
        out += *piece;
        out += replacement;
        --limit;
    }
    if (!afford(pieces.rest().size())) {
        return machine.budget_fault();
    }
    return machine.text(out += pieces.rest());
}

Cell split(Machine& machine, Arguments arguments) {
    auto has_limit = arguments.size() == 3;
    if (!are_texts(arguments.first(2)) || (has_limit && !arguments[2].is(Kind::Int))) {
        return machine.no_overload("split", arguments);
    }
    auto limit = has_limit ? arguments[2].as_int() : -1;
    auto items = ListBuilder{machine};
    if (limit == 0) {
        return items.finish();
    }
    machine.meter().spend_text(arguments[0].size());
    auto pieces = Pieces{arguments[0].text(), arguments[1].text()};
    auto is_by_character = arguments[1].size() == 0;
    while (limit < 0 || limit > 1) {
        auto piece = pieces.next();
        if (!piece) {
            break;
        }
        if (!machine.meter().spend(1) || !items.add(Cell::string(*piece))) {
            return machine.budget_fault();
        }
        --limit;
    }
    if ((!is_by_character || !pieces.rest().empty()) && !items.add(Cell::string(pieces.rest()))) {
        return machine.budget_fault();
    }
    return items.finish();
}

Cell substring(Machine& machine, Arguments arguments) {
    auto has_end = arguments.size() == 3;
    if (!arguments[0].is(Kind::String) || !arguments[1].is(Kind::Int) ||
        (has_end && !arguments[2].is(Kind::Int))) {
        return machine.no_overload("substring", arguments);
    }
    auto text = arguments[0].text();
    machine.meter().spend_text(text.size());
    auto at = [&](const Cell& index) {
        return index.as_int() < 0 ? std::nullopt : byte_at(text, index.as_int());
    };
    auto begin = at(arguments[1]);
    auto end = has_end ? at(arguments[2]) : std::optional{text.size()};
    if (!begin || !end || *begin > *end) {
        return outside_text(machine, begin && has_end ? arguments[2] : arguments[1], text);
    }
    return Cell::string(text.substr(*begin, *end - *begin));
}

bool is_space(std::uint32_t code) {
    return (code >= 0x09 && code <= 0x0d) || code == 0x20 || code == 0x85 || code == 0xa0 ||
           code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
           code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

Cell trim(Machine& machine, Arguments arguments) {
    if (!are_texts(arguments)) {
        return machine.no_overload("trim", arguments);
    }
    auto text = arguments[0].text();
    machine.meter().spend_text(text.size());
    while (!text.empty() && is_space(decode_utf8(text).code)) {
        text.remove_prefix(character_bytes(text));
    }
    auto end = std::size_t{0};
    for (auto at = std::size_t{0}; at < text.size();) {
        auto rest = text.substr(at);
        at += character_bytes(rest);
        end = is_space(decode_utf8(rest).code) ? end : at;
    }
    return Cell::string(text.substr(0, end));
}

Cell reverse_text(Machine& machine, Arguments arguments) {
    if (!are_texts(arguments)) {
        return machine.no_overload("reverse", arguments);
    }
    auto rest = arguments[0].text();
    if (!machine.affords_text(rest.size())) {
        return machine.budget_fault();
    }
    auto out = std::string(rest.size(), ' ');
    for (auto at = rest.size(); !rest.empty();) {
        auto size = character_bytes(rest);
        at -= size;
        rest.copy(out.data() + at, size);
        rest.remove_prefix(size);
    }
    return machine.text(out);
}

Cell quote(Machine& machine, Arguments arguments) {
    constexpr auto escaped = std::string_view{"\a\b\f\n\r\t\v\\\""};
    constexpr auto letters = std::string_view{"abfnrtv\\\""};
    if (!are_texts(arguments)) {
        return machine.no_overload("strings.quote", arguments);
    }
    if (!machine.affords_text(arguments[0].size() * 2)) {
        return machine.budget_fault();
    }
    auto out = std::string{'"'};
    for (auto letter : replace_invalid_utf8(arguments[0].text())) {
        auto at = escaped.find(letter);
        out += at == nowhere ? std::string{letter} : std::string{'\\', letters[at]};
    }
    return machine.text(out += '"');
}

Cell format_text(Machine& machine, Arguments arguments) {
    return arguments[0].is(Kind::String) && arguments[1].is(Kind::List)
               ? format(machine, arguments[0].text(), arguments[1])
               : machine.no_overload("format", arguments);
}

constexpr Function on_text(std::string_view name, std::uint8_t least, std::uint8_t most,
                           Kind result, Implementation implementation) {
    return {name, CallStyle::Member, least, most, only(result), implementation};
}

constexpr auto text_table = std::array{
    on_text("contains", 2, 2, Kind::Bool, contains),
    on_text("startsWith", 2, 2, Kind::Bool, starts_with),
    on_text("endsWith", 2, 2, Kind::Bool, ends_with),
    Function{"matches", CallStyle::Either, 2, 2, only(Kind::Bool), matches_any},
    on_text("charAt", 2, 2, Kind::String, char_at),
    on_text("indexOf", 2, 3, Kind::Int, index_of),
    on_text("lastIndexOf", 2, 3, Kind::Int, last_index_of),
    on_text("join", 1, 2, Kind::String, join),
    on_text("lowerAscii", 1, 1, Kind::String, change_case<'A', 'Z', 'a' - 'A'>),
    on_text("upperAscii", 1, 1, Kind::String, change_case<'a', 'z', 'A' - 'a'>),
    on_text("replace", 3, 4, Kind::String, replace),
    on_text("split", 2, 3, Kind::List, split),
    on_text("substring", 2, 3, Kind::String, substring),
    on_text("trim", 1, 1, Kind::String, trim),
    on_text("reverse", 1, 1, Kind::String, reverse_text),
    on_text("format", 2, 2, Kind::String, format_text),
    Function{"strings.quote", CallStyle::Global, 1, 1, only(Kind::String), quote},
};

} // namespace

std::span<const Function> text_functions() {
    return text_table;
}

} // namespace sluice::expr::cel::runtime

#include "expr/jsonata/internal/signature.h"

#include <algorithm>

#include "expr/jsonata/internal/raise.h"

namespace sluice::expr::jsonata::internal {
namespace {

char letter_of(const Item& item) {
    switch (item.type) {
        case Type::String: return 's';
        case Type::Int:
        case Type::Double: return 'n';
        case Type::Bool: return 'b';
        case Type::Null: return 'l';
        case Type::List:
        case Type::Array: return 'a';
        case Type::Map:
        case Type::Object: return 'o';
        case Type::Function: return 'f';
        default: return 'm'; // Missing.
    }
}

std::uint32_t bit_of(char letter) {
    return 1U << static_cast<unsigned>((letter - 'a') & 31);
}

std::string_view subtype_name(char letter) {
    switch (letter) {
        case 's': return "strings";
        case 'n': return "numbers";
        case 'b': return "booleans";
        case 'o': return "objects";
        case 'a': return "arrays";
        case 'f': return "functions";
        default: return "values of one type";
    }
}

/// Past the bracket that closes the one at `at`.
std::size_t end_of_brackets(std::string_view text, std::size_t at, char open, char close) {
    auto depth = 0;
    for (; at < text.size(); ++at) {
        depth += text[at] == open ? 1 : 0;
        depth -= text[at] == close ? 1 : 0;
        if (depth == 0) {
            return at + 1;
        }
    }
    return text.size();
}

} // namespace

Signature::Parameter Signature::parameter_of(std::string_view text, std::size_t& at) {
    auto parameter = Parameter{.type = text[at]};
    switch (text[at]) {
        case 's':
        case 'n':
        case 'b':
        case 'l':
        case 'o': parameter.types = std::string{text[at], 'm'}; break;
        case 'a':
        case 'x': parameter.types = "asnblfom"; break;
        case 'f': parameter.types = "f"; break;
        case 'j': parameter.types = "asnblom"; break;
        case '(': {
            auto end = end_of_brackets(text, at, '(', ')');
            parameter.types = std::string{text.substr(at + 1, end - at - 2)} + 'm';
            if (parameter.types.contains('<')) {
                raise("S0402", "choice groups that hold parameterized types are not supported");
            }
            at = end;
            return parameter;
        }
        default:
            raise("S0401", "\"{}\" is no type of a signature; use s n b l o a f j x", text[at]);
    }
    ++at;
    return parameter;
}

Signature Signature::parse(std::string_view text) {
    auto signature = Signature{};
    auto at = std::size_t{1};
    while (at < text.size() && text[at] != ':' && text[at] != '>') {
        auto parameter = parameter_of(text, at);
        if (at < text.size() && text[at] == '<') {
            if (parameter.type != 'a' && parameter.type != 'f') {
                raise("S0401", "type parameters can only be applied to functions and arrays");
            }
            parameter.subtype = at + 1 < text.size() ? text[at + 1] : '\0';
            at = end_of_brackets(text, at, '<', '>');
        }
        for (; at < text.size() && std::string_view{"?+-"}.contains(text[at]); ++at) {
            parameter.is_optional |= text[at] != '+';
            parameter.is_context |= text[at] == '-';
            parameter.is_repeated |= text[at] == '+';
        }
        for (auto letter : parameter.types) {
            parameter.type_bits |= bit_of(letter);
        }
        signature.parameters_.push_back(std::move(parameter));
    }
    return signature;
}

bool Signature::fits(std::span<const Item> arguments, Arena& arena) const {
    if (arguments.size() > parameters_.size()) {
        return false;
    }
    for (auto i = std::size_t{0}; i < parameters_.size(); ++i) {
        const auto& parameter = parameters_[i];
        if (i >= arguments.size()) {
            if (!parameter.is_optional || parameter.is_context) {
                return false;
            }
            continue;
        }
        const auto& argument = arguments[i];
        if (parameter.type == 'a') {
            if (!argument.is_array() || parameter.is_repeated) {
                return false;
            }
            auto items = Items{argument, arena};
            for (auto j = std::size_t{0}; parameter.subtype != 0 && j < items.size(); ++j) {
                if (letter_of(items[j]) != parameter.subtype) {
                    return false;
                }
            }
        } else if (parameter.is_repeated ||
                   (parameter.type_bits & bit_of(letter_of(argument))) == 0) {
            return false;
        }
    }
    return true;
}

/// As a greedy regular expression over the letters of the arguments would; `taken` has how many
/// each parameter takes.
bool Signature::match(std::string_view given, std::size_t parameter,
                      std::vector<std::size_t>& taken, std::size_t& furthest,
                      std::size_t at) const {
    furthest = std::max(furthest, at);
    if (parameter == parameters_.size()) {
        return at == given.size();
    }
    const auto& wanted = parameters_[parameter];
    auto fit = std::size_t{0};
    auto fit_max = wanted.is_repeated ? given.size() : std::size_t{1};
    while (fit < fit_max && at + fit < given.size() && wanted.types.contains(given[at + fit])) {
        ++fit;
    }
    auto fit_min = wanted.is_optional ? std::size_t{0} : std::size_t{1};
    for (auto count = fit + 1; count-- > fit_min;) {
        taken[parameter] = count;
        if (match(given, parameter + 1, taken, furthest, at + count)) {
            return true;
        }
    }
    return false;
}

Item Signature::adapt(const Parameter& parameter, Item argument, std::size_t index,
                      std::string_view function, Arena& arena) const {
    if (parameter.type != 'a' || argument.is_undefined()) {
        return argument;
    }
    auto items = Items{argument, arena};
    auto is_fine = true;
    if (parameter.subtype != 0 && items.size() > 0) {
        // An array of a type that has a type itself is looked at no closer.
        for (auto i = std::size_t{0}; i < items.size() && is_fine; ++i) {
            is_fine = letter_of(items[i]) == parameter.subtype;
        }
    }
    if (!is_fine) {
        raise("T0412", "argument {} of function \"{}\" must be an array of {}", index + 1, function,
              subtype_name(parameter.subtype));
    }
    if (argument.is_array()) {
        return argument;
    }
    auto* array = make_array(arena);
    array->push(arena, argument);
    return Item::of(array);
}

Item Signature::from_context(const Parameter& parameter, const Item& context, std::size_t index,
                             std::string_view function, Arena& arena) const {
    if (!parameter.types.contains(letter_of(context))) {
        raise("T0411", "context value is not a compatible type with argument {} of function \"{}\"",
              index + 1, function);
    }
    return adapt(parameter, context, index, function, arena);
}

void Signature::validate(std::vector<Item>& arguments, const Item& context,
                         std::string_view function, Arena& arena) const {
    auto given = std::string{};
    for (const auto& argument : arguments) {
        given += letter_of(argument);
    }
    auto taken = std::vector<std::size_t>(parameters_.size());
    auto furthest = std::size_t{0};
    if (!match(given, 0, taken, furthest, 0)) {
        raise("T0410", "argument {} of function \"{}\" does not match function signature",
              furthest + 1, function);
    }
    auto valid = std::vector<Item>{};
    auto at = std::size_t{0};
    for (auto i = std::size_t{0}; i < parameters_.size(); ++i) {
        const auto& parameter = parameters_[i];
        for (auto count = std::size_t{0}; count < taken[i]; ++count, ++at) {
            auto argument = at < arguments.size() ? arguments[at] : Item{};
            valid.push_back(adapt(parameter, argument, at, function, arena));
        }
        if (taken[i] == 0 && parameter.is_context) {
            valid.push_back(from_context(parameter, context, at, function, arena));
        } else if (taken[i] == 0) {
            // The reference passes the argument that is next, and the parameters behind get fewer.
            valid.push_back(at < arguments.size() ? arguments[at] : Item{});
            ++at;
        }
    }
    arguments = std::move(valid);
}

} // namespace sluice::expr::jsonata::internal

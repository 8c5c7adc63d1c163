#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "expr/jsonata/internal/raise.h"
#include "expr/jsonata/internal/regex.h"
#include "expr/jsonata/internal/text.h"

namespace sluice::expr::jsonata::internal {
namespace {

using Op = Regex::Op;
using Set = Regex::Set;
using Code = std::vector<Regex::Instruction>;

constexpr std::uint32_t unlimited = std::numeric_limits<std::uint32_t>::max();
constexpr int group_depth_max = 60;
constexpr std::uint32_t code_max = 0x10FFFF;

const std::vector<Set::Range> digits = {{'0', '9'}};
const std::vector<Set::Range> words = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};
const std::vector<Set::Range> spaces = {{9, 13},           {' ', ' '},       {0xA0, 0xA0},
                                        {0x1680, 0x1680},  {0x2000, 0x200A}, {0x2028, 0x2029},
                                        {0x202F, 0x202F},  {0x205F, 0x205F}, {0x3000, 0x3000},
                                        {0xFEFF, 0xFEFF}};

std::vector<Set::Range> all_but(const std::vector<Set::Range>& ranges) {
    auto others = std::vector<Set::Range>{};
    auto next = std::uint32_t{0};
    for (const auto& [first, last] : ranges) {
        if (first > next) {
            others.push_back({next, first - 1});
        }
        next = last + 1;
    }
    others.push_back({next, code_max});
    return others;
}

/// `\d` and its like; nothing for other letters.
std::vector<Set::Range> ranges_of(char letter) {
    switch (letter) {
        case 'd': return digits;
        case 'D': return all_but(digits);
        case 'w': return words;
        case 'W': return all_but(words);
        case 's': return spaces;
        case 'S': return all_but(spaces);
        default: return {};
    }
}

std::int32_t length_of(const Code& code) {
    return static_cast<std::int32_t>(code.size());
}

void add(Code& code, const Code& more) {
    code.insert(code.end(), more.begin(), more.end());
}

class RegexParser {
public:
    RegexParser(std::string_view pattern, Regex::Program& program)
        : pattern_{pattern}, program_{program} {
        find_groups();
    }

    void parse() {
        program_.code.push_back({Op::Save, 0});
        add(program_.code, parse_choice());
        if (at_ < pattern_.size()) {
            refuse("there is a ) without its (");
        }
        program_.code.push_back({Op::Save, 1});
        program_.code.push_back({Op::Accept});
    }

private:
    [[noreturn]] void refuse(std::string_view why) const {
        raise("S0303", "bad regular expression /{}/: {}", pattern_, why);
    }
    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < pattern_.size() ? pattern_[at_ + ahead] : '\0';
    }
    bool skip(std::string_view text) {
        auto is_there = pattern_.substr(at_).starts_with(text);
        at_ += is_there ? text.size() : 0;
        return is_there;
    }

    /// Names and the number of groups: references may come before what they refer to.
    void find_groups() {
        auto is_class = false;
        for (auto i = std::size_t{0}; i < pattern_.size(); ++i) {
            if (pattern_[i] == '\\') {
                ++i;
            } else if (pattern_[i] == '[' || pattern_[i] == ']') {
                is_class = pattern_[i] == '[';
            } else if (pattern_[i] == '(' && !is_class) {
                auto rest = pattern_.substr(i + 1);
                auto is_named = rest.starts_with("?<") && !rest.starts_with("?<=") &&
                                !rest.starts_with("?<!");
                if (is_named || !rest.starts_with("?")) {
                    ++group_total_;
                }
                if (is_named) {
                    names_[std::string{rest.substr(2, rest.find('>') - 2)}] = group_total_;
                }
            }
        }
    }

    Code parse_choice() {
        if (++depth_ > group_depth_max) {
            refuse("groups are nested too deep");
        }
        auto code = parse_sequence();
        while (skip("|")) {
            auto other = parse_sequence();
            code.insert(code.begin(), {Op::Branch, length_of(code) + 2});
            code.push_back({Op::Jump, length_of(other) + 1});
            add(code, other);
        }
        --depth_;
        return code;
    }

    Code parse_sequence() {
        auto code = Code{};
        while (at_ < pattern_.size() && peek() != '|' && peek() != ')') {
            auto first_group = program_.group_count;
            auto atom = parse_atom();
            add(code, parse_quantifier(std::move(atom), first_group));
        }
        return code;
    }

    Code parse_quantifier(Code atom, std::uint32_t first_group) {
        auto repetition = Regex::Repetition{.min = 1, .max = 1};
        if (skip("*")) {
            repetition.min = 0;
            repetition.max = unlimited;
        } else if (skip("+")) {
            repetition.max = unlimited;
        } else if (skip("?")) {
            repetition.min = 0;
        } else if (peek() != '{' || !parse_bounds(repetition)) {
            return atom;
        }
        repetition.is_lazy = skip("?");
        repetition.first_group = first_group;
        repetition.last_group = program_.group_count;
        auto which = static_cast<std::int32_t>(program_.repetitions.size());
        program_.repetitions.push_back(repetition);
        auto size = length_of(atom);
        auto code = Code{{Op::Start, which}, {Op::Repeat, which, size + 2}};
        add(code, atom);
        code.push_back({Op::Again, which, size + 1});
        return code;
    }

    bool parse_bounds(Regex::Repetition& repetition) {
        auto from = at_++;
        auto min = parse_count();
        auto max = min;
        if (min && skip(",")) {
            max = peek() == '}' ? std::optional{unlimited} : parse_count();
        }
        if (!min || !max || !skip("}")) {
            at_ = from; // A brace that means itself.
            return false;
        }
        if (*max < *min) {
            refuse("a repetition has its bounds in the wrong order");
        }
        repetition.min = *min;
        repetition.max = *max;
        return true;
    }

    std::optional<std::uint32_t> parse_count() {
        auto count = std::optional<std::uint32_t>{};
        while (peek() >= '0' && peek() <= '9') {
            count = std::min<std::uint32_t>(count.value_or(0) * 10 +
                                                static_cast<std::uint32_t>(peek() - '0'),
                                            100'000'000);
            ++at_;
        }
        return count;
    }

    Code parse_atom() {
        switch (peek()) {
            case '(': return parse_group();
            case '[': return {{Op::Class, parse_class()}};
            case '.': ++at_; return {{Op::Any}};
            case '^': ++at_; return {{Op::Begin}};
            case '$': ++at_; return {{Op::End}};
            case '\\': return parse_escape();
            case '*':
            case '+':
            case '?': refuse("there is nothing to repeat");
            default: break;
        }
        if (peek() == '{') {
            auto ignored = Regex::Repetition{};
            if (parse_bounds(ignored)) {
                refuse("there is nothing to repeat");
            }
        }
        return {character(read_character())};
    }

    std::uint32_t read_character() {
        auto [code, size] = character_at(pattern_, at_);
        at_ += size;
        return code;
    }

    Regex::Instruction character(std::uint32_t code) const {
        return {Op::Character,
                static_cast<std::int32_t>(program_.ignores_case ? fold_case(code) : code)};
    }

    Code parse_group() {
        ++at_;
        if (skip("?:")) {
            return close(parse_choice());
        }
        for (auto [mark, op, is_negative] :
             {std::tuple{"?=", Op::LookAhead, 0}, std::tuple{"?!", Op::LookAhead, 1},
              std::tuple{"?<=", Op::LookBehind, 0}, std::tuple{"?<!", Op::LookBehind, 1}}) {
            if (skip(mark)) {
                auto part = close(parse_choice());
                part.push_back({Op::Accept});
                part.insert(part.begin(), {op, length_of(part), is_negative});
                return part;
            }
        }
        if (skip("?<")) {
            auto end = pattern_.find('>', at_);
            if (end == std::string_view::npos || end == at_) {
                refuse("a group has no name");
            }
            at_ = end + 1;
        } else if (peek() == '?') {
            refuse("a group begins with ? and no known sign");
        }
        auto group = static_cast<std::int32_t>(program_.group_count++);
        auto code = Code{{Op::Save, 2 * group}};
        add(code, close(parse_choice()));
        code.push_back({Op::Save, 2 * group + 1});
        return code;
    }

    Code close(Code code) {
        if (!skip(")")) {
            refuse("there is a ( without its )");
        }
        return code;
    }

    Code parse_escape() {
        ++at_;
        auto letter = peek();
        if (at_ >= pattern_.size()) {
            refuse("there is nothing behind the last \\");
        }
        if (letter == 'b' || letter == 'B') {
            ++at_;
            return {{letter == 'b' ? Op::WordEdge : Op::NotWordEdge}};
        }
        if (letter == 'k' && !names_.empty()) {
            return parse_named_reference();
        }
        if (letter >= '1' && letter <= '9') {
            auto from = at_;
            auto number = *parse_count();
            if (number <= group_total_) {
                return {{Op::Reference, static_cast<std::int32_t>(number)}};
            }
            at_ = from;
        }
        if (auto ranges = ranges_of(letter); !ranges.empty()) {
            ++at_;
            return {{Op::Class, add_set({.ranges = std::move(ranges)})}};
        }
        return {character(parse_character_escape())};
    }

    Code parse_named_reference() {
        auto end = pattern_.find('>', at_);
        auto name = end == std::string_view::npos || peek(1) != '<'
                        ? std::string{}
                        : std::string{pattern_.substr(at_ + 2, end - at_ - 2)};
        auto found = names_.find(name);
        if (found == names_.end()) {
            refuse("\\k refers to no group");
        }
        at_ = end + 1;
        return {{Op::Reference, static_cast<std::int32_t>(found->second)}};
    }

    std::uint32_t parse_character_escape() {
        auto letter = read_character();
        constexpr auto names = std::string_view{"nrtvf0"};
        constexpr auto codes = std::string_view{"\n\r\t\v\f\0", 6};
        if (letter < 128) {
            if (auto which = names.find(static_cast<char>(letter)); which != names.npos) {
                return static_cast<unsigned char>(codes[which]);
            }
        }
        if (letter == 'x' || letter == 'u') {
            return parse_hex(letter == 'x' ? 2 : 4).value_or(letter);
        }
        if (letter == 'c' && at_ < pattern_.size()) {
            return static_cast<unsigned char>(pattern_[at_++]) % 32U;
        }
        return letter;
    }

    std::optional<std::uint32_t> parse_hex(std::size_t count) {
        auto text = std::string{pattern_.substr(at_, count)};
        auto is_hex = text.size() == count &&
                      text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
        if (!is_hex) {
            return std::nullopt;
        }
        at_ += count;
        auto code = static_cast<std::uint32_t>(std::stoul(text, nullptr, 16));
        if (code >= 0xD800 && code < 0xDC00 && pattern_.substr(at_).starts_with("\\u")) {
            at_ += 2;
            auto low = parse_hex(4).value_or(0xDC00);
            return 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
        }
        return code;
    }

    std::int32_t add_set(Set set) {
        program_.sets.push_back(std::move(set));
        return static_cast<std::int32_t>(program_.sets.size()) - 1;
    }

    std::int32_t parse_class() {
        ++at_;
        auto set = Set{};
        set.is_negated = skip("^");
        while (peek() != ']') {
            if (at_ >= pattern_.size()) {
                refuse("there is a [ without its ]");
            }
            parse_class_range(set);
        }
        ++at_;
        return add_set(std::move(set));
    }

    void parse_class_range(Set& set) {
        auto first = parse_class_character(set);
        if (peek() != '-' || peek(1) == ']' || peek(1) == '\0') {
            if (first) {
                set.ranges.push_back({*first, *first});
            }
            return;
        }
        ++at_;
        auto last = parse_class_character(set);
        if (first && last) {
            if (*last < *first) {
                refuse("a range has its ends in the wrong order");
            }
            set.ranges.push_back({*first, *last});
            return;
        }
        set.ranges.push_back({'-', '-'});
        if (first || last) {
            auto code = first ? *first : *last;
            set.ranges.push_back({code, code});
        }
    }

    /// Nothing for `\d` and its like, which go into the set.
    std::optional<std::uint32_t> parse_class_character(Set& set) {
        if (peek() != '\\') {
            return read_character();
        }
        ++at_;
        if (at_ >= pattern_.size()) {
            refuse("there is a [ without its ]");
        }
        if (peek() == 'b') {
            ++at_;
            return 8;
        }
        if (auto ranges = ranges_of(peek()); !ranges.empty()) {
            ++at_;
            set.ranges.insert(set.ranges.end(), ranges.begin(), ranges.end());
            return std::nullopt;
        }
        return parse_character_escape();
    }

    std::string_view pattern_;
    Regex::Program& program_;
    std::size_t at_ = 0;
    int depth_ = 0;
    std::uint32_t group_total_ = 0;
    std::map<std::string, std::uint32_t> names_;
};

} // namespace

Regex::Program compile_regex(std::string_view pattern, std::string_view flags) {
    auto program = Regex::Program{.ignores_case = flags.contains('i'),
                                  .is_multiline = flags.contains('m')};
    RegexParser{pattern, program}.parse();
    return program;
}

} // namespace sluice::expr::jsonata::internal

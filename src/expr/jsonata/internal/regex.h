#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::expr::jsonata::internal {

/// A regular expression of JavaScript, over characters. It looks back and ahead and refers to
/// groups, so it backtracks: each match has a budget of steps.
class Regex {
public:
    struct Span {
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    struct Match {
        std::vector<std::optional<Span>> groups; ///< The whole match first.
    };

    /// Flags: i, m. Raises S0303 when the pattern is none.
    Regex(std::string_view pattern, std::string_view flags);

    /// The first match at or behind a byte. Asks `spend` for steps now and then; it raises when
    /// there are no more.
    std::optional<Match> search(std::string_view text, std::size_t from,
                                const std::function<void(std::size_t)>& spend) const;

    enum class Op : std::uint8_t {
        Character,
        Any,
        Class,
        Branch, ///< Goes on at the next; if that fails, as far ahead as `x` says.
        Jump,   ///< As far as `x` says, ahead or back.
        Save,   ///< The place becomes bound `x` of the groups.
        Begin,
        End,
        WordEdge,
        NotWordEdge,
        Reference,  ///< What group `x` matched.
        LookAhead,  ///< A part of `x` instructions that must match here; not, when `y` is 1.
        LookBehind, ///< Likewise, ending here.
        Start,      ///< Repetition `x` has been done 0 times.
        Repeat,     ///< Does repetition `x` once more, or leaves it by `y` ahead.
        Again,      ///< Back to the Repeat of `x`, `y` before, unless nothing was matched.
        Accept,
    };
    struct Instruction {
        Op op = Op::Accept;
        std::int32_t x = 0;
        std::int32_t y = 0;
    };
    struct Set {
        struct Range {
            std::uint32_t first = 0;
            std::uint32_t last = 0;
        };
        std::vector<Range> ranges;
        bool is_negated = false;

        bool contains(std::uint32_t code) const;
    };
    struct Repetition {
        std::uint32_t min = 0;
        std::uint32_t max = 0;
        bool is_lazy = false;
        std::uint32_t first_group = 0; ///< Groups inside forget what they matched each time.
        std::uint32_t last_group = 0;
    };
    struct Program {
        std::vector<Instruction> code;
        std::vector<Set> sets;
        std::vector<Repetition> repetitions;
        std::uint32_t group_count = 1;
        bool ignores_case = false;
        bool is_multiline = false;
    };

private:
    Program program_;
};

/// Raises S0303.
Regex::Program compile_regex(std::string_view pattern, std::string_view flags);
/// Simple case folding as JavaScript's i flag: by upper case.
std::uint32_t fold_case(std::uint32_t code);

} // namespace sluice::expr::jsonata::internal

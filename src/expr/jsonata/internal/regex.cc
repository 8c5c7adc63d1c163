#include "expr/jsonata/internal/regex.h"

#include <algorithm>
#include <limits>

#include "expr/jsonata/internal/letter_case.h"
#include "expr/jsonata/internal/raise.h"
#include "expr/jsonata/internal/text.h"

namespace sluice::expr::jsonata::internal {
namespace {

using Op = Regex::Op;

constexpr auto nowhere = std::numeric_limits<std::size_t>::max();
constexpr std::size_t instructions_per_step = 16;
constexpr std::size_t instructions_per_asking = 256;
constexpr std::size_t branches_max = 400'000;

bool is_word(std::uint32_t code) {
    return code < 128 && (code == '_' || (code >= '0' && code <= '9') ||
                          (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z'));
}

bool is_line_end(std::uint32_t code) {
    return code == '\n' || code == '\r' || code == 0x2028 || code == 0x2029;
}

/// Backtracking over a stack of its own: of places to try next and of what to undo on the way.
class Matcher {
public:
    Matcher(const Regex::Program& program, std::string_view text,
            const std::function<void(std::size_t)>& spend)
        : program_{program},
          text_{text},
          spend_{spend},
          bounds_(2UL * program.group_count, nowhere),
          counters_(program.repetitions.size()),
          places_(program.repetitions.size(), nowhere) {}

    bool match(std::size_t place) {
        std::ranges::fill(bounds_, nowhere);
        trail_.clear();
        return run(0, place, nowhere);
    }
    const std::vector<std::size_t>& bounds() const { return bounds_; }

private:
    enum class Undo : std::uint8_t { Branch, Enter, Bound, Counter, Place };
    struct Entry {
        Undo undo = Undo::Branch;
        std::uint32_t which = 0; ///< Of a branch: where in the code.
        std::size_t value = 0;   ///< Of a branch: where in the text.
    };

    /// From an instruction to its Accept, which a part that looks behind must reach at `end`.
    bool run(std::size_t from, std::size_t place, std::size_t end) {
        auto base = trail_.size();
        at_ = from;
        place_ = place;
        for (;;) {
            tick();
            if (program_.code[at_].op == Op::Accept && (end == nowhere || place_ == end)) {
                // What was matched stays; what else could have been tried does not.
                auto is_try = [](const Entry& entry) { return entry.undo <= Undo::Enter; };
                auto begin = trail_.begin() + static_cast<std::ptrdiff_t>(base);
                trail_.erase(std::remove_if(begin, trail_.end(), is_try), trail_.end());
                return true;
            }
            if (program_.code[at_].op == Op::Accept || !step(program_.code[at_])) {
                if (!go_back(base)) {
                    return false;
                }
            }
        }
    }

    void tick() {
        if (++ticks_ % instructions_per_asking == 0) {
            spend_(instructions_per_asking / instructions_per_step);
        }
    }

    /// To the last branch; undoes everything when there is none.
    bool go_back(std::size_t base) {
        while (trail_.size() > base) {
            auto entry = trail_.back();
            trail_.pop_back();
            switch (entry.undo) {
                case Undo::Branch:
                    at_ = entry.which;
                    place_ = entry.value;
                    return true;
                case Undo::Enter:
                    at_ = entry.which;
                    place_ = entry.value;
                    enter(static_cast<std::size_t>(program_.code[at_].x));
                    return true;
                case Undo::Bound: bounds_[entry.which] = entry.value; break;
                case Undo::Counter: counters_[entry.which] = entry.value; break;
                case Undo::Place: places_[entry.which] = entry.value; break;
            }
        }
        return false;
    }

    void push(Undo undo, std::size_t which, std::size_t value) {
        if (trail_.size() >= branches_max) {
            raise("U1001", "a regular expression needs more memory than its budget allows");
        }
        trail_.push_back({undo, static_cast<std::uint32_t>(which), value});
    }

    void set(Undo undo, std::vector<std::size_t>& values, std::size_t which, std::size_t value) {
        push(undo, which, values[which]);
        values[which] = value;
    }

    bool step(const Regex::Instruction& instruction) {
        auto x = static_cast<std::size_t>(instruction.x);
        switch (instruction.op) {
            case Op::Character:
            case Op::Any:
            case Op::Class: return eat(instruction);
            case Op::Branch: push(Undo::Branch, at_ + x, place_); break;
            case Op::Jump: at_ += x; return true;
            case Op::Save: set(Undo::Bound, bounds_, x, place_); break;
            case Op::Begin:
                if (place_ != 0 && !(program_.is_multiline && is_line_end(before()))) {
                    return false;
                }
                break;
            case Op::End:
                if (place_ != text_.size() && !(program_.is_multiline && is_line_end(here()))) {
                    return false;
                }
                break;
            case Op::WordEdge:
            case Op::NotWordEdge: {
                auto is_edge = (place_ > 0 && is_word(before())) !=
                               (place_ < text_.size() && is_word(here()));
                if (is_edge != (instruction.op == Op::WordEdge)) {
                    return false;
                }
                break;
            }
            case Op::Reference: return eat_again(x);
            case Op::LookAhead:
            case Op::LookBehind: return look(instruction);
            case Op::Start:
                set(Undo::Counter, counters_, x, 0);
                set(Undo::Place, places_, x, nowhere);
                break;
            case Op::Repeat: repeat(instruction); return true;
            case Op::Again: {
                auto is_free = counters_[x] <= program_.repetitions[x].min;
                if (places_[x] == place_ && !is_free) {
                    return false;
                }
                at_ -= static_cast<std::size_t>(instruction.y);
                return true;
            }
            case Op::Accept: break;
        }
        ++at_;
        return true;
    }

    std::uint32_t here() const { return character_at(text_, place_).code; }
    std::uint32_t before() const {
        return character_at(text_, place_ - size_before(text_, place_)).code;
    }

    bool eat(const Regex::Instruction& instruction) {
        if (place_ >= text_.size()) {
            return false;
        }
        auto [code, size] = character_at(text_, place_);
        auto is_fit = false;
        if (instruction.op == Op::Character) {
            auto folded = program_.ignores_case ? fold_case(code) : code;
            is_fit = folded == static_cast<std::uint32_t>(instruction.x);
        } else if (instruction.op == Op::Any) {
            is_fit = !is_line_end(code);
        } else {
            is_fit = is_in(program_.sets[static_cast<std::size_t>(instruction.x)], code);
        }
        place_ += is_fit ? size : 0;
        at_ += is_fit ? 1 : 0;
        return is_fit;
    }

    bool is_in(const Regex::Set& set, std::uint32_t code) const {
        if (!program_.ignores_case) {
            return set.contains(code) != set.is_negated;
        }
        auto is_there = set.contains(code) || set.contains(to_upper(code)) ||
                        set.contains(to_lower(code));
        return is_there != set.is_negated;
    }

    bool eat_again(std::size_t group) {
        auto begin = bounds_[2 * group];
        auto end = bounds_[2 * group + 1];
        ++at_;
        if (begin == nowhere || end == nowhere || end < begin) {
            return true; // What has not matched refers to nothing.
        }
        auto wanted = text_.substr(begin, end - begin);
        ticks_ += wanted.size();
        if (!program_.ignores_case) {
            auto is_there = text_.substr(place_).starts_with(wanted);
            place_ += is_there ? wanted.size() : 0;
            return is_there;
        }
        for (auto i = std::size_t{0}; i < wanted.size();) {
            if (place_ >= text_.size()) {
                return false;
            }
            auto one = character_at(wanted, i);
            auto other = character_at(text_, place_);
            if (fold_case(one.code) != fold_case(other.code)) {
                return false;
            }
            i += one.size;
            place_ += other.size;
        }
        return true;
    }

    bool look(const Regex::Instruction& instruction) {
        auto at = at_;
        auto place = place_;
        auto base = trail_.size();
        auto is_found = false;
        if (instruction.op == Op::LookAhead) {
            is_found = run(at + 1, place, nowhere);
        } else {
            for (auto from = place;; from -= size_before(text_, from)) {
                is_found = run(at + 1, from, place);
                if (is_found || from == 0) {
                    break;
                }
            }
        }
        auto is_negative = instruction.y == 1;
        if (is_found && is_negative) {
            go_back(base);
        }
        at_ = at + static_cast<std::size_t>(instruction.x) + 1;
        place_ = place;
        return is_found != is_negative;
    }

    void repeat(const Regex::Instruction& instruction) {
        auto which = static_cast<std::size_t>(instruction.x);
        const auto& repetition = program_.repetitions[which];
        auto done = counters_[which];
        auto leave = at_ + static_cast<std::size_t>(instruction.y);
        if (done >= repetition.max) {
            at_ = leave;
            return;
        }
        auto is_choice = done >= repetition.min;
        if (is_choice && repetition.is_lazy) {
            push(Undo::Enter, at_, place_);
            at_ = leave;
            return;
        }
        if (is_choice) {
            push(Undo::Branch, leave, place_);
        }
        enter(which);
    }

    void enter(std::size_t which) {
        const auto& repetition = program_.repetitions[which];
        set(Undo::Counter, counters_, which, counters_[which] + 1);
        set(Undo::Place, places_, which, place_);
        for (auto bound = 2UL * repetition.first_group; bound < 2UL * repetition.last_group; ++bound) {
            set(Undo::Bound, bounds_, bound, nowhere);
        }
        ++at_;
    }

    const Regex::Program& program_;
    std::string_view text_;
    const std::function<void(std::size_t)>& spend_;
    std::vector<std::size_t> bounds_;
    std::vector<std::size_t> counters_;
    std::vector<std::size_t> places_;
    std::vector<Entry> trail_;
    std::size_t at_ = 0;
    std::size_t place_ = 0;
    std::size_t ticks_ = 0;
};

} // namespace

bool Regex::Set::contains(std::uint32_t code) const {
    return std::ranges::any_of(
        ranges, [&](const Range& range) { return code >= range.first && code <= range.last; });
}

std::uint32_t fold_case(std::uint32_t code) {
    return to_upper(code);
}

Regex::Regex(std::string_view pattern, std::string_view flags)
    : program_{compile_regex(pattern, flags)} {}

std::optional<Regex::Match> Regex::search(std::string_view text, std::size_t from,
                                          const std::function<void(std::size_t)>& spend) const {
    auto matcher = Matcher{program_, text, spend};
    for (auto place = from; place <= text.size();) {
        if (matcher.match(place)) {
            auto found = Match{};
            const auto& bounds = matcher.bounds();
            for (auto i = std::size_t{0}; i < bounds.size(); i += 2) {
                auto is_matched = bounds[i] != nowhere && bounds[i + 1] != nowhere;
                found.groups.push_back(is_matched ? std::optional{Span{bounds[i], bounds[i + 1]}}
                                                  : std::nullopt);
            }
            return found;
        }
        place += place < text.size() ? character_at(text, place).size : 1;
    }
    return std::nullopt;
}

} // namespace sluice::expr::jsonata::internal

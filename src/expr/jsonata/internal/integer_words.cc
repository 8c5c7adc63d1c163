#include "expr/jsonata/internal/integer_words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "expr/jsonata/internal/letter_case.h"

namespace sluice::expr::jsonata::internal {
namespace {

constexpr auto small_words = std::to_array<std::string_view>(
    {"Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven",
     "Twelve", "Thirteen", "Fourteen", "Fifteen", "Sixteen", "Seventeen", "Eighteen", "Nineteen"});
constexpr auto small_ordinals = std::to_array<std::string_view>(
    {"Zeroth", "First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh", "Eighth", "Ninth",
     "Tenth", "Eleventh", "Twelfth", "Thirteenth", "Fourteenth", "Fifteenth", "Sixteenth",
     "Seventeenth", "Eighteenth", "Nineteenth"});
constexpr auto tens_words = std::to_array<std::string_view>(
    {"Twenty", "Thirty", "Forty", "Fifty", "Sixty", "Seventy", "Eighty", "Ninety"});
constexpr auto magnitudes =
    std::to_array<std::string_view>({"Thousand", "Million", "Billion", "Trillion"});

/// Of one part; `is_joined` when another came before.
std::string words_of(double number, bool is_joined, bool is_ordinal) {
    if (number <= 19) {
        auto at = static_cast<std::size_t>(number);
        return (is_joined ? " and " : "") + std::string{is_ordinal ? small_ordinals[at] : small_words[at]};
    }
    if (number < 100) {
        auto words = std::string{tens_words[static_cast<std::size_t>(number / 10) - 2]};
        auto rest = std::fmod(number, 10);
        if (rest > 0) {
            words += "-" + words_of(rest, false, is_ordinal);
        } else if (is_ordinal) {
            words.replace(words.size() - 1, 1, "ieth");
        }
        return (is_joined ? " and " : "") + words;
    }
    auto magnitude = number < 1000 ? std::size_t{0}
                                   : std::min<std::size_t>(
                                         static_cast<std::size_t>(std::floor(std::log10(number) / 3)),
                                         magnitudes.size());
    auto factor = number < 1000 ? 100.0 : std::pow(10.0, 3.0 * static_cast<double>(magnitude));
    auto count = std::floor(number / factor);
    auto rest = number - count * factor;
    auto words = (is_joined ? ", " : "") + words_of(count, false, false) + " " +
                 std::string{number < 1000 ? std::string_view{"Hundred"} : magnitudes[magnitude - 1]};
    if (rest > 0) {
        return words + words_of(rest, true, is_ordinal);
    }
    return words + (is_ordinal ? "th" : "");
}

std::map<std::string, double, std::less<>> make_word_values() {
    auto values = std::map<std::string, double, std::less<>>{};
    auto add = [&](std::string_view word, double value) { values[lower_text(word)] = value; };
    for (auto i = std::size_t{0}; i < small_words.size(); ++i) {
        add(small_words[i], static_cast<double>(i));
        add(small_ordinals[i], static_cast<double>(i));
    }
    for (auto i = std::size_t{0}; i < tens_words.size(); ++i) {
        auto word = std::string{tens_words[i]};
        add(word, 10.0 * static_cast<double>(i + 2));
        add(word.substr(0, word.size() - 1) + "ieth", 10.0 * static_cast<double>(i + 2));
    }
    add("Hundred", 100);
    add("Hundredth", 100);
    for (auto i = std::size_t{0}; i < magnitudes.size(); ++i) {
        auto value = std::pow(10.0, 3.0 * static_cast<double>(i + 1));
        add(magnitudes[i], value);
        add(std::string{magnitudes[i]} + "th", value);
    }
    return values;
}

const std::map<std::string, double, std::less<>>& word_values() {
    static const auto values = make_word_values();
    return values;
}

struct Numeral {
    double value = 0;
    std::string_view letters;
};

constexpr auto numerals = std::to_array<Numeral>({{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"},
                                                  {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"},
                                                  {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"},
                                                  {1, "I"}});
constexpr double roman_max = 1e6; // Longer ones are a thousand Ms and no use to anyone.

} // namespace

std::string number_to_words(double number, bool is_ordinal) {
    return words_of(number, false, is_ordinal);
}

double words_to_number(std::string_view text) {
    auto sums = std::vector<double>{0};
    auto word = std::string{};
    auto end_word = [&] {
        auto found = word_values().find(word);
        word.clear();
        if (found == word_values().end()) {
            return;
        }
        auto value = found->second;
        auto& top = sums.back();
        if (value >= 100) {
            top *= value;
        } else if (top >= 1000) {
            sums.push_back(value);
        } else {
            top += value;
        }
    };
    for (auto character : text) {
        if (character >= 'a' && character <= 'z') {
            word += character;
        } else {
            end_word();
        }
    }
    end_word();
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

const std::string& words_pattern() {
    static const auto pattern = [] {
        auto words = std::vector<std::string>{};
        for (const auto& [word, value] : word_values()) {
            words.push_back(word);
        }
        // The first that fits is taken: longer words first.
        std::ranges::stable_sort(words, std::greater{}, &std::string::size);
        auto joined = std::string{};
        for (const auto& word : words) {
            joined += word + "|";
        }
        return joined + "and|[-, ]";
    }();
    return pattern;
}

std::string number_to_roman(double number) {
    auto letters = std::string{};
    number = std::min(number, roman_max);
    for (const auto& numeral : numerals) {
        for (; number >= numeral.value; number -= numeral.value) {
            letters += numeral.letters;
        }
    }
    return letters;
}

double roman_to_number(std::string_view upper) {
    auto value_of = [](char letter) {
        const auto* found = std::ranges::find(numerals, std::string_view{&letter, 1}, &Numeral::letters);
        return found == numerals.end() ? 0.0 : found->value;
    };
    auto sum = 0.0;
    auto largest = 0.0;
    for (auto i = upper.size(); i-- > 0;) {
        auto value = value_of(upper[i]);
        sum += value < largest ? -value : value;
        largest = std::max(largest, value);
    }
    return sum;
}

std::string number_to_letters(double number, char first) {
    auto letters = std::string{};
    for (; number > 0; number = std::floor((number - 1) / 26)) {
        letters.insert(letters.begin(), static_cast<char>(first + std::fmod(number - 1, 26)));
    }
    return letters;
}

double letters_to_number(std::string_view upper) {
    return std::accumulate(upper.begin(), upper.end(), 0.0, [](double number, char letter) {
        return number * 26 + (letter - 'A' + 1);
    });
}

} // namespace sluice::expr::jsonata::internal

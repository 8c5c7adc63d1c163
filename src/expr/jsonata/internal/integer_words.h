#pragma once

#include <string>
#include <string_view>

namespace sluice::expr::jsonata::internal {

/// "One Thousand, Two Hundred and Thirty-Four"
std::string number_to_words(double number, bool is_ordinal);
/// Lower case; words that are none count nothing.
double words_to_number(std::string_view text);
/// `a|b|…` of all words in lower case.
const std::string& words_pattern();

std::string number_to_roman(double number);
double roman_to_number(std::string_view upper);

std::string number_to_letters(double number, char first);
double letters_to_number(std::string_view upper);

} // namespace sluice::expr::jsonata::internal

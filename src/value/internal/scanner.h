#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace sluice::value {

/// Takes a text apart from the front. Once something was missing it stays failed, so that a
/// grammar can be written down without a branch after every step.
class Scanner {
public:
    explicit Scanner(std::string_view text) : rest_(text) {}

    bool is_good() const { return is_good_; }
    void refuse() { is_good_ = false; }
    bool is_at_end() const { return rest_.empty(); }
    std::string_view rest() const { return rest_; }

    bool take_any_of(std::string_view letters) {
        if (rest_.empty() || letters.find(rest_.front()) == std::string_view::npos) {
            return false;
        }
        rest_.remove_prefix(1);
        return true;
    }

    void expect_any_of(std::string_view letters) { is_good_ = take_any_of(letters) && is_good_; }

    /// As many digits as there are; none is a failure.
    std::string_view digits() {
        auto found = rest_.substr(0, std::min(rest_.find_first_not_of("0123456789"), rest_.size()));
        is_good_ = is_good_ && !found.empty();
        rest_.remove_prefix(found.size());
        return found;
    }

    /// That many digits, their number within [min, max]. At most nine of them.
    int number(std::size_t width, int min, int max) {
        auto found = rest_.substr(0, width);
        auto number = 0;
        for (auto digit : found) {
            is_good_ = is_good_ && digit >= '0' && digit <= '9';
            number = number * 10 + (is_good_ ? digit - '0' : 0);
        }
        is_good_ = is_good_ && found.size() == width && number >= min && number <= max;
        rest_.remove_prefix(found.size());
        return number;
    }

    /// The letters up to the next that is none.
    std::string_view lower_case_word() {
        auto end = std::ranges::find_if(rest_, [](char at) { return at < 'a' || at > 'z'; });
        auto found = rest_.substr(0, static_cast<std::size_t>(end - rest_.begin()));
        rest_.remove_prefix(found.size());
        return found;
    }

private:
    std::string_view rest_;
    bool is_good_ = true;
};

} // namespace sluice::value

#include "trigger/pattern_index.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "trigger/testing/arbitrary_spec.h"

namespace sluice::trigger {
namespace {

Pattern pattern_of(std::string_view type, std::string_view subject = "*") {
    return {.type = TextPattern::parse(type).value(),
            .subject = TextPattern::parse(subject).value()};
}

Match match_of(std::uint32_t trigger, std::uint32_t pattern = 0) {
    return {.trigger = TriggerNumber{trigger}, .pattern = pattern};
}

Matches find(const PatternIndex& index, std::string_view type, std::string_view subject = "") {
    // What was in the vector before must not stay.
    auto found = Matches{match_of(99, 99)};
    index.find(type, subject, found);
    return found;
}

TEST(PatternIndex, FindsNothingWhenEmpty) {
    EXPECT_EQ(find(PatternIndex{}, "a", "b"), Matches{});
}

TEST(PatternIndex, FindsEachShape) {
    auto index = PatternIndex{};
    index.add(pattern_of("order.paid"), match_of(0));
    index.add(pattern_of("order.*"), match_of(1));
    index.add(pattern_of("*", "eu/*"), match_of(2));
    index.add(pattern_of("*"), match_of(3));
    index.add(pattern_of("order.paid", "eu/7"), match_of(4));

    EXPECT_EQ(find(index, "order.paid", "eu/7"),
              (Matches{match_of(0), match_of(1), match_of(2), match_of(3), match_of(4)}));
    EXPECT_EQ(find(index, "order.paid"), (Matches{match_of(0), match_of(1), match_of(3)}));
    EXPECT_EQ(find(index, "order"), (Matches{match_of(3)}));
    EXPECT_EQ(index.size(), 5U);
}

TEST(PatternIndex, TellsAnExactTextFromAPrefixOfTheSameText) {
    auto index = PatternIndex{};
    index.add(pattern_of("ab"), match_of(0));
    index.add(pattern_of("ab*"), match_of(1));

    EXPECT_EQ(find(index, "ab"), (Matches{match_of(0), match_of(1)}));
    EXPECT_EQ(find(index, "abc"), (Matches{match_of(1)}));
}

TEST(PatternIndex, TellsWhereTypeEndsAndSubjectBegins) {
    auto index = PatternIndex{};
    index.add(pattern_of("ab", "c"), match_of(0));

    EXPECT_EQ(find(index, "a", "bc"), Matches{});
    EXPECT_EQ(find(index, "ab", "c"), Matches{match_of(0)});
}

TEST(PatternIndex, AnswersInOrderOfCreationWhateverTheOrderOfAdding) {
    auto index = PatternIndex{};
    for (auto trigger : {5U, 1U, 3U, 2U, 4U}) {
        index.add(pattern_of("a"), match_of(trigger, 1));
        index.add(pattern_of("*"), match_of(trigger, 0));
    }

    auto found = find(index, "a");

    EXPECT_EQ(found.size(), 10U);
    EXPECT_TRUE(std::ranges::is_sorted(found));
}

TEST(PatternIndex, AddingTwiceIsAddingOnce) {
    auto index = PatternIndex{};
    for (auto trigger : {1U, 0U, 1U, 0U}) {
        index.add(pattern_of("a"), match_of(trigger));
    }

    EXPECT_EQ(find(index, "a"), (Matches{match_of(0), match_of(1)}));
    EXPECT_EQ(index.size(), 2U);
}

TEST(PatternIndex, GivesAMatchOnceThatTwoPatternsHave) {
    auto index = PatternIndex{};
    index.add(pattern_of("a"), match_of(0));
    index.add(pattern_of("a*"), match_of(0));

    EXPECT_EQ(find(index, "a"), Matches{match_of(0)});
    EXPECT_EQ(index.size(), 2U);
}

TEST(PatternIndex, RemovingWhatIsNotThereChangesNothing) {
    auto index = PatternIndex{};
    index.add(pattern_of("a"), match_of(0));
    index.add(pattern_of("b"), match_of(1));
    index.add(pattern_of("b"), match_of(2));

    index.remove(pattern_of("a"), match_of(1));
    index.remove(pattern_of("a*"), match_of(0));
    index.remove(pattern_of("b"), match_of(3));

    EXPECT_EQ(index.size(), 3U);
    EXPECT_EQ(find(index, "a"), Matches{match_of(0)});
    EXPECT_EQ(find(index, "b"), (Matches{match_of(1), match_of(2)}));
}

TEST(PatternIndex, TakesLongTexts) {
    auto index = PatternIndex{};
    auto type = std::string(5000, 'x');
    index.add(pattern_of(type + "*", type), match_of(0));

    EXPECT_EQ(find(index, type + "y", type), Matches{match_of(0)});
    EXPECT_EQ(find(index, type + "y", type + "y"), Matches{});
    EXPECT_EQ(find(index, "x", type), Matches{});
}

struct Entry {
    Pattern pattern;
    Match match;

    bool operator==(const Entry&) const = default;
};

rc::Gen<Match> arbitrary_match() {
    return rc::gen::map(rc::gen::pair(rc::gen::inRange(0U, 8U), rc::gen::inRange(0U, 3U)),
                        [](auto pair) { return match_of(pair.first, pair.second); });
}

RC_GTEST_PROP(PatternIndexProperty, FindsWhatEachPatternByItselfWouldMatch, ()) {
    auto index = PatternIndex{};
    auto entries = std::vector<Entry>{};
    auto steps = *rc::gen::inRange(0, 60);
    for (auto step = 0; step < steps; ++step) {
        auto is_removal = !entries.empty() && *rc::gen::inRange(0, 3) == 0;
        if (is_removal) {
            auto at = *rc::gen::inRange<std::size_t>(0, entries.size());
            index.remove(entries[at].pattern, entries[at].match);
            entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(at));
            continue;
        }
        auto entry = Entry{*testing::arbitrary_pattern(), *arbitrary_match()};
        index.add(entry.pattern, entry.match);
        if (std::ranges::find(entries, entry) == entries.end()) {
            entries.push_back(entry);
        }
    }
    auto type = *testing::arbitrary_word();
    auto subject = *testing::arbitrary_word();

    auto expected = std::set<Match>{};
    for (const auto& entry : entries) {
        if (entry.pattern.matches(type, subject)) {
            expected.insert(entry.match);
        }
    }
    RC_ASSERT(find(index, type, subject) == Matches(expected.begin(), expected.end()));
    RC_ASSERT(index.size() == entries.size());
}

} // namespace
} // namespace sluice::trigger

#include "trigger/history.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "event/builder.h"
#include "trigger/testing/packed_text.h"

namespace sluice::trigger {
namespace {

/// The bytes that the example of docs/formats/history.md spells out. A text is given by its size,
/// its first bytes and `…`, and stands behind `bytes: `.
std::string bytes_of_the_example() {
    auto file = std::ifstream{HISTORY_DOCUMENT};
    auto bytes = std::string{};
    auto is_example = false;
    auto is_inside = false;
    for (auto line = std::string{}; std::getline(file, line);) {
        is_example |= line == "## Example";
        if (line.starts_with("```")) {
            is_inside = is_example && !is_inside;
            continue;
        }
        if (!is_inside) {
            continue;
        }
        auto words = std::istringstream{line.substr(0, 34)};
        for (auto word = std::string{}; words >> word;) {
            if (word == "…") {
                bytes.resize(bytes.size() - 3);
                bytes += line.substr(line.find("bytes: ") + 7);
                break;
            }
            bytes += static_cast<char>(std::stoi(word, nullptr, 16));
        }
    }
    return bytes;
}

TEST(History, TheDocumentedExampleHolds) {
    auto second =
        Moment{.time = Time{std::chrono::seconds{1}}, .steady = Time{std::chrono::seconds{1}}};
    auto journal = Journal{};
    auto event = event::Builder{"a", "s", "item"}.run("r").build();
    journal.begin(EventNumber{2}, {.event = event, .moment = second}, event.json());
    journal.add(Activated{.scope = root_scope, .trigger = TriggerNumber{0}, .progress = 1});
    journal.end(Fate::Activated);
    journal.begin(EventNumber{3}, {.event = event, .moment = second},
                  R"({"id":"a","source":"s","type":"item"})");
    journal.end(Fate::Duplicate);

    auto record = std::string{journal.record(second)};

    EXPECT_EQ(record.size(), 132U);
    EXPECT_EQ(record, bytes_of_the_example());
    auto entries = decode_record(record);
    ASSERT_TRUE(entries) << entries.error().message;
    EXPECT_EQ(entries->at(1).fate, Fate::Duplicate);
}

TEST(History, TheDocumentedFiringHolds) {
    auto fired = encode_changes({Fired{
        .scope = root_scope, .trigger = TriggerNumber{0}, .fire = FireNumber{1}, .is_gone = true}});

    EXPECT_EQ(fired, (std::string{"\x01\x00\x00\x01\x01", 5}));
}

TEST(History, WritesAnActivationAsAnyChange) {
    for (auto number : {0ULL, 1ULL, 127ULL, 128ULL, 4'000'000'000ULL}) {
        for (auto seen : {std::optional<Fingerprint>{}, std::optional{Fingerprint{1, 2}}}) {
            auto change = Activated{.scope = Incarnation{number},
                                    .trigger = TriggerNumber{static_cast<std::uint32_t>(number)},
                                    .progress = number * number,
                                    .seen = seen};
            auto bytes = std::string{};
            auto out = Encoder{bytes};
            encode(change, out);

            EXPECT_EQ(bytes, encode_changes({Change{change}}));
        }
    }
}

/// Events one behind the other, as they lie in what a bus sent.
class LentText {
public:
    explicit LentText(std::uint64_t events) {
        auto text = std::string{};
        for (auto at = std::uint64_t{0}; at < events; ++at) {
            text += "some bytes of the bus;";
            auto event = event::Builder{std::to_string(at), "s", "item"}.run("r").build();
            places_.emplace_back(text.size(), event.json().size());
            text += event.json();
        }
        auto size = text.size();
        bytes_ = std::make_shared<const std::string>(text + "padding");
        packed_ = testing::packed_text(bytes_, size, events);
    }

    std::string_view event(std::size_t at) const {
        return std::string_view{*bytes_}.substr(places_[at].first, places_[at].second);
    }
    const std::shared_ptr<const event::PackedText>& packed() const { return packed_; }

private:
    std::shared_ptr<const std::string> bytes_;
    std::vector<std::pair<std::size_t, std::size_t>> places_;
    std::shared_ptr<const event::PackedText> packed_;
};

class HistoryOfTextTest : public ::testing::Test {
protected:
    void write_down(std::string_view json) {
        journal_.begin(EventNumber{++count_}, {.event = event_}, json);
        journal_.end(Fate::Activated);
        expected_.emplace_back(json);
    }

    static std::vector<std::string> texts(const Result<std::vector<Entry>>& entries) {
        auto found = std::vector<std::string>{};
        for (const auto& entry : entries.value()) {
            found.push_back(entry.json);
        }
        return found;
    }

    std::string stored() {
        return std::string{RecordPacker{}.pack(journal_.record({}), journal_.texts())};
    }

    event::Event event_ = event::Builder{"1", "s", "item"}.run("r").build();
    Journal journal_;
    std::uint64_t count_ = 0;
    std::vector<std::string> expected_;
};

TEST_F(HistoryOfTextTest, EventsOfATextAreKeptByTheirPlaces) {
    auto text = LentText{300};
    journal_.lend(text.packed());
    for (auto at = std::size_t{0}; at < 300; ++at) {
        write_down(text.event(at));
    }

    EXPECT_LT(journal_.record({}).size(), 300 * 10U);
    EXPECT_GT(journal_.bytes(), 300 * text.event(0).size()) << "what a run brings to memory counts";
    EXPECT_EQ(texts(decode_record(stored())), expected_);
    EXPECT_EQ(texts(decode_record(journal_.with_texts(journal_.record({})))), expected_);
}

TEST_F(HistoryOfTextTest, OthersLieAmongThem) {
    auto first = LentText{3};
    auto second = LentText{4};
    write_down(R"({"id":"before"})");
    journal_.lend(first.packed());
    write_down(first.event(1)); // Another run took the one before.
    write_down(R"({"id":"duplicate"})");
    write_down(first.event(2));
    journal_.lend(second.packed());
    write_down(R"({"id":"between"})");
    write_down(second.event(0));
    write_down(second.event(3));
    write_down(first.event(0));  // Not lent any more.
    write_down(second.event(1)); // Out of order: it stands there as it is.

    EXPECT_EQ(journal_.texts().size(), 2U);
    EXPECT_EQ(texts(decode_record(stored())), expected_);
}

TEST_F(HistoryOfTextTest, TheLastOnesAreFoundBehindTheOthers) {
    auto text = LentText{50};
    journal_.lend(text.packed());
    for (auto at = std::size_t{0}; at < 50; ++at) {
        write_down(text.event(at));
    }

    EXPECT_EQ(texts(decode_record(stored(), 2)),
              (std::vector(expected_.end() - 2, expected_.end())));
}

TEST_F(HistoryOfTextTest, ATextIsLetGoOfWithTheRecord) {
    auto text = LentText{2};
    journal_.lend(text.packed());
    write_down(text.event(0));
    journal_.clear();
    EXPECT_EQ(text.packed().use_count(), 1);
    EXPECT_EQ(journal_.bytes(), 0U);

    expected_.clear();
    write_down(text.event(1));
    EXPECT_TRUE(journal_.texts().empty());
    EXPECT_EQ(texts(decode_record(stored())), expected_);
}

TEST_F(HistoryOfTextTest, PlacesOutsideOfTheTextAreDamage) {
    auto text = LentText{2};
    journal_.lend(text.packed());
    write_down(text.event(0));
    write_down(text.event(1));
    auto shorter = testing::packed_text(text.packed()->bytes, text.packed()->size - 1);

    auto entries = decode_record(RecordPacker{}.pack(journal_.record({}), {shorter}));
    auto without = decode_record(journal_.record({}));

    ASSERT_FALSE(entries);
    EXPECT_EQ(entries.error().code, Errc::Corrupt);
    ASSERT_FALSE(without);
    EXPECT_EQ(without.error().code, Errc::Corrupt);
}

} // namespace
} // namespace sluice::trigger

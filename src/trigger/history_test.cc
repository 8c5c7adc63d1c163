#include "trigger/history.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "event/builder.h"

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

} // namespace
} // namespace sluice::trigger

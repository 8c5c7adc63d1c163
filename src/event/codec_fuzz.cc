#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/invariant.h"
#include "event/codec.h"
#include "event/event_view.h"
#include "value/json.h"

namespace {

using namespace sluice;

constexpr auto usual = std::string_view{
    R"({"specversion":"1.0","id":"1","source":"/shop","type":"order.paid","subject":"order-7",)"
    R"("run":"r-1","time":"2026-11-15T05:57:30Z","ext":"x","data":{"n":1}})"};

void look_up(const Event& event, std::string_view text) {
    auto path = std::vector<std::string_view>{};
    for (auto size = std::size_t{0}; size < 4 && !text.empty(); ++size) {
        path.push_back(text.substr(0, text.find_first_of("/\"")));
        text.remove_prefix(std::min(text.size(), path.back().size() + 1));
    }
    auto view = event::EventView{event};
    for (auto size = path.size() + 1; size-- > 0;) {
        auto part = std::span{path}.first(size);
        INVARIANT(view.data_at(part) == event.data_at(part), "a view finds what the event has");
    }
    // Finding goes by brackets alone, reading checks all of the text.
    auto found = event.data_at(std::span{path}.first(path.empty() ? 0 : 1));
    if (auto data = event.data(); data.is_map() && !path.empty()) {
        const auto* member = data.find(path.front());
        INVARIANT(found == (member == nullptr ? std::nullopt : std::optional{*member}),
                  "what is found is what the whole data has there");
    }
}

void check(event::Codec& codec, const Event& event, std::string_view text) {
    auto again = codec.parse(event.json());
    INVARIANT(again.has_value(), "what was parsed is parsed again");
    INVARIANT(again->json() == event.json(), "the text stays as it is");
    INVARIANT(again->id() == event.id() && again->source() == event.source() &&
                  again->type() == event.type() && again->subject() == event.subject() &&
                  again->run() == event.run() && again->scope() == event.scope(),
              "so do the attributes");
    INVARIANT(again->attributes() == event.attributes(), "and the extensions");
    INVARIANT(again->data() == event.data(), "and the data");
    INVARIANT(again->time() == event.time(), "and the time");
    INVARIANT(event.json().find('\n') == std::string_view::npos, "an event is one line");
    INVARIANT(value::parse_json(event.json(), {.depth_max = 200}).has_value(),
              "another reader takes it as JSON");
    look_up(event, text);
}

void check_trusted(event::Codec& codec, std::string_view text) {
    auto owner = std::make_shared<const std::string>(text);
    auto event = codec.parse_trusted(*owner, owner);
    if (!event) {
        return;
    }
    static_cast<void>(event->attributes());
    static_cast<void>(event->data());
    static_cast<void>(event->time());
    look_up(*event, text);
}

/// A codec that has seen others reads it the same: those before nulls, or usual ones.
void check_familiar(std::string_view text) {
    auto experienced = event::Codec{};
    auto parse_often = [&](std::string_view before) {
        for (auto count = 0; count < 6; ++count) {
            static_cast<void>(experienced.parse(before));
        }
    };
    if (!text.contains('\0')) {
        parse_often(usual);
    }
    for (auto end = text.find('\0'); end != std::string_view::npos; end = text.find('\0')) {
        parse_often(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    auto fresh = event::Codec{}.parse(text);
    auto found = experienced.parse(text);
    INVARIANT(found.has_value() == fresh.has_value(), "what came before decides nothing");
    if (!found) {
        INVARIANT(found.error().message == fresh.error().message, "nor what is told");
        return;
    }
    INVARIANT(found->json() == fresh->json() && found->attributes() == fresh->attributes() &&
                  found->identity() == fresh->identity() && found->type() == fresh->type() &&
                  found->subject() == fresh->subject() && found->run() == fresh->run() &&
                  found->scope() == fresh->scope() && found->time() == fresh->time() &&
                  found->data() == fresh->data(),
              "nor what is found");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    auto text = std::string_view{reinterpret_cast<const char*>(bytes), size};
    auto codec = event::Codec{};
    if (auto event = codec.parse(text)) {
        check(codec, *event, text);
    }
    if (auto events = codec.parse_batch(text)) {
        for (const auto& event : *events) {
            check(codec, event, text);
        }
    }
    check_trusted(codec, text);
    check_familiar(text);
    return 0;
}

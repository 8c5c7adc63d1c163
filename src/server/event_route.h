#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/fingerprint.h"
#include "base/result.h"
#include "event/event.h"
#include "event/filter.h"
#include "value/value.h"

namespace sluice::server {

/// The id of the run that a key stands for: the key itself where it may be a run's id, otherwise
/// with the bytes that may not as `%XX`, and cut with a fingerprint where it is too long. Different
/// keys give different ids.
std::string run_id_of(std::string_view key);

/// Where in an event a run's key stands: an attribute, or a path into its data.
class EventKey {
public:
    /// `subject`, `data.order.id`
    static Result<EventKey> parse(std::string_view text);

    /// Nothing when the event does not have it, or has no text, number or truth there.
    std::optional<std::string> of(const event::Event& event) const;
    const std::string& text() const { return text_; }

private:
    explicit EventKey(std::string text);

    std::string text_;
    bool is_in_data_ = false;
    std::vector<std::string> path_;
};

/// Tells where events without a run go.
struct EventRoute {
    enum class Start : std::uint8_t { Never, IfNone, Always };
    enum class Input : std::uint8_t { Data, Event };

    std::string name;
    event::Filter filter;
    std::optional<EventKey> key;
    std::string prefix;     ///< Before the key, so that keys of different routes stay apart.
    std::string definition; ///< Of runs that it starts.
    Start start = Start::Never;
    Input input = Input::Data;
    Value labels;

    /// `{filter, to: {run: {key, prefix}, definition, start, input, labels}}`. Fails with
    /// InvalidInput, saying what to write instead.
    static Result<EventRoute> parse(std::string_view name, const Value& form);

    /// The run that this event goes to; nothing when it has no key.
    std::optional<std::string> run_of(const event::Event& event) const;
    Value input_of(const event::Event& event) const;
};

/// The routes of a namespace. Asks only those that could take an event: routes with exact types
/// are found by type, those with exact sources by source. Immutable.
class EventRouteTable {
public:
    explicit EventRouteTable(std::vector<std::shared_ptr<const EventRoute>> routes);

    /// Those whose filter matches, by name.
    std::vector<const EventRoute*> matching(const event::Event& event) const;

private:
    using Places = std::vector<std::uint32_t>;
    struct TextHash {
        using is_transparent = void; // NOLINT(readability-identifier-naming): boost looks for it.
        std::size_t operator()(std::string_view text) const { return hash64(text); }
    };
    using Index = boost::unordered_flat_map<std::string, Places, TextHash, std::equal_to<>>;

    void add_matching(const Places& places, const event::Event& event, Places& found) const;

    std::vector<std::shared_ptr<const EventRoute>> routes_; ///< By name.
    Index by_type_;
    Index by_source_;
    Places others_;
};

} // namespace sluice::server

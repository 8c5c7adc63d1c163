#include "server/event_route.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.h"
#include "trigger/ids.h"
#include "value/json.h"

namespace sluice::server {

namespace {

using event::Event;

/// Room for what a fingerprint takes.
constexpr auto long_id_bytes = trigger::run_id_bytes_max - 40;

std::string hex_of(const Fingerprint& print) {
    return fmt::format("{:016x}{:016x}", print.high, print.low);
}

/// The bytes that no run's id has as `%XX`; `%` too, so that nothing else comes out the same.
std::string escape_key(std::string_view key, bool with_tilde) {
    auto id = std::string{};
    for (auto c : key) {
        auto byte = static_cast<unsigned char>(c);
        if (byte <= 0x20 || byte == 0x7F || c == '/' || c == '%' || (with_tilde && c == '~')) {
            fmt::format_to(std::back_inserter(id), "%{:02X}", byte);
        } else {
            id += c;
        }
    }
    return id;
}

/// At most this many bytes, without a part of a character at the end.
std::string_view cut_text(std::string_view text, std::size_t bytes) {
    while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) {
        --bytes;
    }
    return text.substr(0, bytes);
}

std::vector<std::string> split_path(std::string_view text) {
    auto parts = std::vector<std::string>{};
    while (true) {
        auto dot = text.find('.');
        parts.emplace_back(text.substr(0, dot));
        if (dot == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(dot + 1);
    }
}

Result<std::string> text_member(std::string_view place, const Value& value) {
    if (!value.is_string() || value.size() == 0) {
        return fail(Errc::InvalidInput, "{}: expected a text", place);
    }
    return std::string{value.as_string()};
}

Result<void> read_run(const Value& form, EventRoute& route) {
    if (!form.is_map()) {
        return fail(Errc::InvalidInput, "to.run: expected {{key, prefix}}");
    }
    for (const auto& [name, value] : form.as_map()) {
        auto text = TRY(text_member("to.run." + name, value));
        if (name == "key") {
            route.key = TRY(EventKey::parse(text));
        } else if (name == "prefix") {
            route.prefix = std::move(text);
        } else {
            return fail(Errc::InvalidInput, "to.run.{}: expected key and prefix", name);
        }
    }
    if (!route.key) {
        return fail(Errc::InvalidInput,
                    "to.run.key is missing: expected an attribute such as subject, or a path such "
                    "as data.order.id");
    }
    return {};
}

Result<EventRoute::Start> read_start_rule(const Value& value) {
    if (value == Value{"never"}) {
        return EventRoute::Start::Never;
    }
    if (value == Value{"if_none"}) {
        return EventRoute::Start::IfNone;
    }
    if (value == Value{"always"}) {
        return EventRoute::Start::Always;
    }
    return fail(Errc::InvalidInput, "to.start: expected never, if_none or always");
}

Result<void> read_labels(const Value& form, EventRoute& route) {
    auto is_text = [](const auto& each) { return each.value.is_string(); };
    if (!form.is_map() || !std::ranges::all_of(form.as_map(), is_text)) {
        return fail(Errc::InvalidInput, "to.labels: expected a map of texts");
    }
    route.labels = form;
    return {};
}

Result<void> read_target(const Value& form, EventRoute& route) {
    auto start = std::optional<EventRoute::Start>{};
    for (const auto& [name, value] : form.as_map()) {
        if (name == "run") {
            TRY(read_run(value, route));
        } else if (name == "definition") {
            route.definition = TRY(text_member("to.definition", value));
        } else if (name == "start") {
            start = TRY(read_start_rule(value));
        } else if (name == "labels") {
            TRY(read_labels(value, route));
        } else if (name == "input" && (value == Value{"data"} || value == Value{"event"})) {
            route.input =
                value == Value{"data"} ? EventRoute::Input::Data : EventRoute::Input::Event;
        } else if (name == "input") {
            return fail(Errc::InvalidInput, "to.input: expected data or event");
        } else {
            return fail(Errc::InvalidInput,
                        "to.{}: expected run, definition, start, input or labels", name);
        }
    }
    auto by_default = route.definition.empty() ? EventRoute::Start::Never
                      : route.key              ? EventRoute::Start::IfNone
                                               : EventRoute::Start::Always;
    route.start = start.value_or(by_default);
    return {};
}

/// What a route asks for must fit together.
Result<void> check_route(const EventRoute& route) {
    auto starts = route.start != EventRoute::Start::Never;
    if (starts && route.definition.empty()) {
        return fail(Errc::InvalidInput, "to.definition is missing: which runs shall it start?");
    }
    if (!starts && !route.definition.empty()) {
        return fail(Errc::InvalidInput,
                    "to.start: never starts nothing: leave out definition, or write if_none");
    }
    if (route.start == EventRoute::Start::Always && route.key) {
        return fail(Errc::InvalidInput,
                    "to.start: always makes a run for each event: leave out run, or write if_none");
    }
    if (route.start != EventRoute::Start::Always && !route.key) {
        return fail(Errc::InvalidInput, "to.run is missing: expected {{\"key\": \"subject\"}}");
    }
    return {};
}

} // namespace

std::string run_id_of(std::string_view key) {
    auto id = escape_key(key, false);
    if (!trigger::is_given_run_id(id)) {
        id = escape_key(key, true);
    }
    if (id.size() > trigger::run_id_bytes_max) {
        id = fmt::format("{}.{}", cut_text(id, long_id_bytes), hex_of(fingerprint(key)));
    }
    return id;
}

EventKey::EventKey(std::string text) : text_(std::move(text)) {
    path_ = split_path(text_);
    if (path_.size() > 1 && path_.front() == "data") {
        is_in_data_ = true;
        path_.erase(path_.begin());
    }
}

Result<EventKey> EventKey::parse(std::string_view text) {
    auto key = EventKey{std::string{text}};
    auto is_attribute =
        key.path_.size() == 1 && text != "data" && std::ranges::all_of(text, [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        });
    auto has_gap = std::ranges::any_of(key.path_, &std::string::empty);
    if (has_gap || (!key.is_in_data_ && !is_attribute)) {
        return fail(Errc::InvalidInput,
                    "key {}: expected an attribute such as subject, or a path such as "
                    "data.order.id",
                    text);
    }
    return key;
}

std::optional<std::string> EventKey::of(const Event& event) const {
    auto value = std::optional<Value>{};
    if (is_in_data_) {
        auto path = std::vector<std::string_view>(path_.begin(), path_.end());
        value = event.data_at(path);
    } else {
        value = event.attribute(path_.front());
    }
    if (value && value->is_string() && value->size() > 0) {
        return std::string{value->as_string()};
    }
    if (value && (value->is_number() || value->is_bool())) {
        return value::to_json(*value);
    }
    return std::nullopt;
}

Result<EventRoute> EventRoute::parse(std::string_view name, const Value& form) {
    auto route = EventRoute{.name = std::string{name}};
    const auto* filter = form.find("filter");
    const auto* to = form.find("to");
    if (filter == nullptr || to == nullptr || !to->is_map() || form.size() > 2) {
        return fail(Errc::InvalidInput,
                    "a route needs filter and to, and nothing else: {{\"filter\": {{\"exact\": "
                    "{{\"type\": \"order.paid\"}}}}, \"to\": {{\"run\": {{\"key\": "
                    "\"subject\"}}}}}}");
    }
    route.filter = TRY(event::Filter::parse(*filter));
    TRY(read_target(*to, route));
    TRY(check_route(route));
    return route;
}

std::optional<std::string> EventRoute::run_of(const Event& event) const {
    if (start == Start::Always) {
        // A resent event has the same source and id, so it starts nothing a second time.
        auto origin = event.identity();
        return run_id_of(fmt::format("{}-{}", name, hex_of(fingerprint(name, hex_of(origin)))));
    }
    auto found = key->of(event);
    return found ? std::optional{run_id_of(prefix + *found)} : std::nullopt;
}

Value EventRoute::input_of(const Event& event) const {
    if (input == Input::Data) {
        return event.data();
    }
    auto members = event.attributes();
    if (event.has_data()) {
        members.push_back({"data", event.data()});
    }
    return Value::map(std::move(members));
}

EventRouteTable::EventRouteTable(std::vector<std::shared_ptr<const EventRoute>> routes)
    : routes_(std::move(routes)) {
    std::ranges::sort(routes_, {}, [](const auto& route) -> const auto& { return route->name; });
    for (auto place = std::uint32_t{0}; place < routes_.size(); ++place) {
        const auto& filter = routes_[place]->filter;
        auto types = filter.values_of("type");
        auto sources = types ? std::nullopt : filter.values_of("source");
        auto& index = types ? by_type_ : by_source_;
        if (!types && !sources) {
            others_.push_back(place);
            continue;
        }
        for (const auto& value : types ? *types : *sources) {
            index[value].push_back(place);
        }
    }
}

std::vector<const EventRoute*> EventRouteTable::matching(const Event& event) const {
    auto places = Places{};
    if (auto found = by_type_.find(event.type()); found != by_type_.end()) {
        add_matching(found->second, event, places);
    }
    if (auto found = by_source_.find(event.source()); found != by_source_.end()) {
        add_matching(found->second, event, places);
    }
    add_matching(others_, event, places);
    std::ranges::sort(places);
    auto matching = std::vector<const EventRoute*>{};
    for (auto place : places) {
        matching.push_back(routes_[place].get());
    }
    return matching;
}

void EventRouteTable::add_matching(const Places& places, const Event& event, Places& found) const {
    for (auto place : places) {
        if (routes_[place]->filter.matches(event)) {
            found.push_back(place);
        }
    }
}

} // namespace sluice::server

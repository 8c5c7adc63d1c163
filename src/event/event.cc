#include "event/event.h"

#include <limits>

#include "base/base64.h"
#include "base/invariant.h"
#include "event/internal/attribute.h"
#include "event/internal/lookup.h"
#include "event/internal/skimmer.h"
#include "value/time_text.h"

namespace sluice::event {

namespace {

using internal::Scanner;

bool is_payload(std::string_view name) {
    return name == "data" || name == "data_base64";
}

/// Goes through the attributes of an event's text, those that are null left out.
class Attributes {
public:
    explicit Attributes(std::string_view json) : skimmer_(json) {}

    bool next() {
        auto name = Scanner::String{};
        while (skimmer_.next_member(name)) {
            name_ = internal::text_of(name, storage_);
            json_ = skimmer_.pass_value();
            if (!is_payload(name_) && json_ != "null") {
                return true;
            }
        }
        return false;
    }
    std::string_view name() const { return name_; }
    Value value() const { return internal::to_value(json_); }

private:
    internal::Skimmer skimmer_;
    std::string storage_;
    std::string_view name_;
    std::string_view json_;
};

} // namespace

Event::Event(std::shared_ptr<const void> owner, const Envelope& envelope)
    : owner_(std::move(owner)),
      text_(envelope.json.data()),
      size_(static_cast<std::uint32_t>(envelope.json.size())),
      is_base64_(envelope.is_base64),
      identity_(fingerprint(envelope.source, envelope.id)) {
    auto beyond = envelope.json.size();
    auto place_of = [&](std::string_view part) {
        auto begin = part.empty() ? 0 : static_cast<std::size_t>(part.data() - text_);
        beyond |= begin | part.size();
        return Place{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(part.size())};
    };
    id_ = place_of(envelope.id);
    source_ = place_of(envelope.source);
    type_ = place_of(envelope.type);
    subject_ = place_of(envelope.subject);
    run_ = place_of(envelope.run);
    scope_ = place_of(envelope.scope);
    time_ = place_of(envelope.time);
    data_ = place_of(envelope.data);
    INVARIANT(beyond <= std::numeric_limits<std::uint32_t>::max(),
              "an event's parts stand within 4 GiB from its beginning");
}

Envelope Event::envelope() const {
    return {.json = json(),
            .id = id(),
            .source = source(),
            .type = type(),
            .subject = subject(),
            .run = run(),
            .scope = scope(),
            .time = at(time_),
            .data = at(data_),
            .is_base64 = is_base64_};
}

std::optional<Time> Event::time() const {
    if (time_.size == 0) {
        return std::nullopt;
    }
    auto time = value::parse_time(at(time_));
    return time ? std::optional{*time} : std::nullopt;
}

std::optional<Value> Event::attribute(std::string_view name) const {
    if (auto place = internal::rule_of(internal::attribute_named(name)).place; place != nullptr) {
        auto text = envelope().*place;
        return text.empty() ? std::nullopt : std::optional<Value>{text};
    }
    for (auto attributes = Attributes{json()}; attributes.next();) {
        if (attributes.name() == name) {
            return attributes.value();
        }
    }
    return std::nullopt;
}

std::vector<value::Member> Event::attributes() const {
    auto members = std::vector<value::Member>{};
    for (auto attributes = Attributes{json()}; attributes.next();) {
        members.push_back({std::string{attributes.name()}, attributes.value()});
    }
    return members;
}

Value Event::whole() const {
    auto members = attributes();
    if (has_data()) {
        members.push_back({"data", data()});
    }
    return Value::map(std::move(members));
}

Value Event::data() const {
    if (!has_data()) {
        return {};
    }
    auto data = internal::to_value(at(data_));
    if (!is_base64_) {
        return data;
    }
    auto bytes = base64_decode(data.as_string());
    INVARIANT(bytes.has_value(), "the data of an event was validated when it came in");
    return Value::bytes(*bytes);
}

std::optional<Value> Event::data_at(std::span<const std::string_view> path) const {
    if (!has_data()) {
        return std::nullopt;
    }
    if (is_base64_) {
        return path.empty() ? std::optional{data()} : std::nullopt;
    }
    auto found = internal::find_path(at(data_), path);
    return found ? std::optional{internal::to_value(*found)} : std::nullopt;
}

} // namespace sluice::event

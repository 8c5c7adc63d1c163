#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fingerprint.h"
#include "base/result.h"
#include "value/value.h"

namespace sluice::event {

/// Where an event's parts stand: views into its text, or beside it where the text has escapes.
struct Envelope {
    std::string_view json; ///< One object, nothing around it, on one line.
    std::string_view id;
    std::string_view source;
    std::string_view type;
    std::string_view subject;
    std::string_view run;
    std::string_view scope;
    std::string_view time;
    std::string_view
        data; ///< The JSON text of `data` or `data_base64`; empty when there is neither.
    bool is_base64 = false;
};

/// A CloudEvent, version 1.0.
///
/// It is the JSON text it came as, with views of its attributes: copying shares the text, and data
/// that nobody looks into is never parsed. Immutable; may be handed to other threads.
class Event {
public:
    Event() = default;

    std::string_view id() const { return at(id_); }
    std::string_view source() const { return at(source_); }
    /// Of source and id together, by which events are told apart. Made when it was parsed, while
    /// its text was at hand.
    const Fingerprint& identity() const { return identity_; }
    std::string_view type() const { return at(type_); }
    /// Empty when there is none: CloudEvents forbids an empty subject.
    std::string_view subject() const { return at(subject_); }
    /// The run it belongs to; empty when there is none.
    std::string_view run() const { return at(run_); }
    /// The scope inside the run, such as `resize/17`; empty for the root.
    std::string_view scope() const { return at(scope_); }
    std::optional<Time> time() const;

    /// Any attribute by name, extensions included: a String, Bool or Int; nothing when absent.
    std::optional<Value> attribute(std::string_view name) const;
    /// All attributes in the order of the text.
    std::vector<value::Member> attributes() const;
    /// Attributes and data as one map.
    Value whole() const;

    bool has_data() const { return data_.size > 0; }
    /// `data` parsed whole (`data_base64` as Bytes), Null when there is none. Costs a parse: ask
    /// for `data_at` where a path is enough.
    Value data() const;
    /// The value under a path of member names and list indices; nothing when it is not there.
    std::optional<Value> data_at(std::span<const std::string_view> path) const;

    /// The JSON text of `data`; empty when there is none or it is `data_base64`.
    std::string_view data_json() const { return is_base64_ ? std::string_view{} : at(data_); }

    /// The JSON text, one object on one line, as it is stored and sent.
    std::string_view json() const { return {text_, size_}; }

private:
    friend class Codec;
    friend class Builder;

    /// From the beginning of the text on: what stands beside it stands behind it.
    struct Place {
        std::uint32_t begin = 0;
        std::uint32_t size = 0;
    };

    Event(std::shared_ptr<const void> owner, const Envelope& envelope);

    std::string_view at(Place place) const { return {text_ + place.begin, place.size}; }
    Envelope envelope() const;

    // Small, since it is handed from core to core.
    std::shared_ptr<const void> owner_; ///< Keeps what follows.
    const char* text_ = nullptr;
    std::uint32_t size_ = 0;
    bool is_base64_ = false;
    Place id_;
    Place source_;
    Place type_;
    Place subject_;
    Place run_;
    Place scope_;
    Place time_;
    Place data_;
    Fingerprint identity_;
};

} // namespace sluice::event

namespace sluice {
using event::Event;
} // namespace sluice

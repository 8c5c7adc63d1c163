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

    std::string_view id() const { return envelope_.id; }
    std::string_view source() const { return envelope_.source; }
    /// Of source and id together, by which events are told apart. Made when it was parsed, while
    /// its text was at hand.
    const Fingerprint& identity() const { return identity_; }
    std::string_view type() const { return envelope_.type; }
    /// Empty when there is none: CloudEvents forbids an empty subject.
    std::string_view subject() const { return envelope_.subject; }
    /// The run it belongs to; empty when there is none.
    std::string_view run() const { return envelope_.run; }
    /// The scope inside the run, such as `resize/17`; empty for the root.
    std::string_view scope() const { return envelope_.scope; }
    std::optional<Time> time() const;

    /// Any attribute by name, extensions included: a String, Bool or Int; nothing when absent.
    std::optional<Value> attribute(std::string_view name) const;
    /// All attributes in the order of the text.
    std::vector<value::Member> attributes() const;
    /// Attributes and data as one map.
    Value whole() const;

    bool has_data() const { return !envelope_.data.empty(); }
    /// `data` parsed whole (`data_base64` as Bytes), Null when there is none. Costs a parse: ask
    /// for `data_at` where a path is enough.
    Value data() const;
    /// The value under a path of member names and list indices; nothing when it is not there.
    std::optional<Value> data_at(std::span<const std::string_view> path) const;

    /// The JSON text of `data`; empty when there is none or it is `data_base64`.
    std::string_view data_json() const {
        return envelope_.is_base64 ? std::string_view{} : envelope_.data;
    }

    /// The JSON text, one object on one line, as it is stored and sent.
    std::string_view json() const { return envelope_.json; }

private:
    friend class Codec;
    friend class Builder;

    Event(std::shared_ptr<const void> owner, const Envelope& envelope)
        : owner_(std::move(owner)),
          envelope_(envelope),
          identity_(fingerprint(envelope.source, envelope.id)) {}

    std::shared_ptr<const void> owner_; ///< Keeps what the views point into.
    Envelope envelope_;
    Fingerprint identity_;
};

} // namespace sluice::event

namespace sluice {
using event::Event;
} // namespace sluice

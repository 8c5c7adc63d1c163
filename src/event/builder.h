#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "event/event.h"

namespace sluice::event {

/// Makes an event: what the engine emits, and what tests send.
///
/// `Builder("order/7", "orders", "order.paid").subject("7").data(value).build()`
/// It writes what it is given and does not validate: parse the JSON of what comes from outside.
class Builder {
public:
    /// Id, source and type must not be empty.
    Builder(std::string_view id, std::string_view source, std::string_view type);

    /// An empty one is left out, as are an empty run and scope.
    Builder& subject(std::string_view subject);
    Builder& run(std::string_view run);
    Builder& scope(std::string_view scope);
    Builder& time(Time time);
    /// Bytes become `data_base64`. Null is data too.
    Builder& data(const Value& data);
    /// Any other attribute, also one of the above or `specversion` by its name. Given again, the
    /// last stands; null takes it away. Id, source, type and data are not set this way.
    Builder& attribute(std::string_view name, const Value& value);

    Event build();

private:
    std::string* text_named(std::string_view name);
    /// Where attributes have escapes, what they say stands beside the text.
    static Event read_back(std::shared_ptr<const std::string> json);

    std::string specversion_ = "1.0";
    std::string id_;
    std::string source_;
    std::string type_;
    std::string subject_;
    std::string time_;
    std::string run_;
    std::string scope_;
    std::vector<value::Member> extensions_;
    std::string data_; ///< A comma and the whole member: `,"data":1`.
};

} // namespace sluice::event

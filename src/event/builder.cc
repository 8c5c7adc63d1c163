#include "event/builder.h"

#include <algorithm>
#include <array>
#include <memory>

#include "base/invariant.h"
#include "event/internal/envelope_reader.h"
#include "value/json.h"
#include "value/time_text.h"

namespace sluice::event {

namespace {

constexpr auto json_bytes_usual = std::size_t{250};
constexpr auto names_set_elsewhere =
    std::array<std::string_view, 5>{"id", "source", "type", "data", "data_base64"};

void write_member(std::string_view name, std::string_view text, std::string& json) {
    if (text.empty()) {
        return;
    }
    json += ",\"";
    json += name;
    json += "\":";
    value::write_json_string(text, json);
}

std::string text_of(const Value& value) {
    if (value.is_null()) {
        return {};
    }
    if (value.is_timestamp()) {
        return value::format_time(value.as_timestamp());
    }
    return value.is_string() ? std::string{value.as_string()} : value::to_json(value);
}

void write_extension(const value::Member& extension, std::string& json) {
    json += ',';
    value::write_json_string(extension.key, json);
    json += ':';
    value::write_json(extension.value, json);
}

} // namespace

Builder::Builder(std::string_view id, std::string_view source, std::string_view type)
    : id_(id), source_(source), type_(type) {
    INVARIANT(!id.empty() && !source.empty() && !type.empty(), "every event has these");
}

Builder& Builder::subject(std::string_view subject) {
    subject_ = subject;
    return *this;
}

Builder& Builder::run(std::string_view run) {
    run_ = run;
    return *this;
}

Builder& Builder::scope(std::string_view scope) {
    scope_ = scope;
    return *this;
}

Builder& Builder::time(Time time) {
    time_ = value::format_time(time);
    return *this;
}

Builder& Builder::data(const Value& data) {
    data_ = data.is_bytes() ? ",\"data_base64\":" : ",\"data\":";
    value::write_json(data, data_);
    return *this;
}

Builder& Builder::attribute(std::string_view name, const Value& value) {
    auto is_own = [name](std::string_view own) { return own == name; };
    INVARIANT(std::ranges::none_of(names_set_elsewhere, is_own),
              "it has a way of its own to be set");
    if (auto* text = text_named(name); text != nullptr) {
        *text = text_of(value);
        return *this;
    }
    std::erase_if(extensions_, [name](const auto& extension) { return extension.key == name; });
    if (!value.is_null()) {
        extensions_.push_back({std::string{name}, value});
    }
    return *this;
}

std::string* Builder::text_named(std::string_view name) {
    if (name == "subject") {
        return &subject_;
    }
    if (name == "time") {
        return &time_;
    }
    if (name == "run") {
        return &run_;
    }
    if (name == "scope") {
        return &scope_;
    }
    return name == "specversion" ? &specversion_ : nullptr;
}

Event Builder::build() {
    auto json = std::make_shared<std::string>();
    json->reserve(json_bytes_usual + data_.size());
    *json += "{\"specversion\":";
    value::write_json_string(specversion_, *json);
    write_member("id", id_, *json);
    write_member("source", source_, *json);
    write_member("type", type_, *json);
    write_member("subject", subject_, *json);
    write_member("time", time_, *json);
    write_member("run", run_, *json);
    write_member("scope", scope_, *json);
    for (const auto& extension : extensions_) {
        write_extension(extension, *json);
    }
    *json += data_;
    *json += '}';

    auto reader = internal::EnvelopeReader{{}};
    auto scanner = internal::Scanner{*json};
    auto envelope = reader.read_trusted(scanner);
    INVARIANT(envelope.has_value(), "what was just written is an event");
    auto owner = std::shared_ptr<const void>{std::move(json)};
    auto owned = reader.own(*envelope, owner);
    return Event{std::move(owner), owned};
}

} // namespace sluice::event

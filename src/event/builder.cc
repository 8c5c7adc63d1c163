#include "event/builder.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/invariant.h"
#include "event/internal/envelope_reader.h"
#include "value/json.h"
#include "value/time_text.h"

namespace sluice::event {

namespace {

constexpr auto json_bytes_usual = std::size_t{250};
constexpr auto data_name = std::string_view{R"(,"data":)"};
constexpr auto base64_name = std::string_view{R"(,"data_base64":)"};
constexpr auto names_set_elsewhere =
    std::array<std::string_view, 5>{"id", "source", "type", "data", "data_base64"};

/// Writes attributes that are texts, and knows afterwards where they stand.
class TextWriter {
public:
    explicit TextWriter(std::string& json) : json_(json) {}

    void write(std::string_view name, std::string_view text, std::string_view Envelope::* place) {
        if (text.empty()) {
            return;
        }
        json_ += ",\"";
        json_ += name;
        json_ += "\":";
        auto begin = json_.size() + 1;
        value::write_json_string(text, json_);
        auto size = json_.size() - 1 - begin;
        has_escapes_ = has_escapes_ || std::string_view{json_}.substr(begin, size).contains('\\');
        written_[count_++] = {.place = place, .begin = begin, .size = size};
    }
    /// Of a text that will not be moved any more. Nothing when an attribute does not stand there
    /// as it is: then the text is to be read.
    std::optional<Envelope> places() const {
        if (has_escapes_) {
            return std::nullopt;
        }
        auto envelope = Envelope{.json = json_};
        for (const auto& [place, begin, size] : std::span{written_}.first(count_)) {
            envelope.*place = envelope.json.substr(begin, size);
        }
        return envelope;
    }

private:
    struct Written {
        std::string_view Envelope::* place;
        std::size_t begin;
        std::size_t size;
    };

    std::string& json_;
    std::array<Written, 7> written_{};
    std::size_t count_ = 0;
    bool has_escapes_ = false;
};

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
    data_ = data.is_bytes() ? base64_name : data_name;
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
    auto texts = TextWriter{*json};
    texts.write("id", id_, &Envelope::id);
    texts.write("source", source_, &Envelope::source);
    texts.write("type", type_, &Envelope::type);
    texts.write("subject", subject_, &Envelope::subject);
    texts.write("time", time_, &Envelope::time);
    texts.write("run", run_, &Envelope::run);
    texts.write("scope", scope_, &Envelope::scope);
    for (const auto& extension : extensions_) {
        write_extension(extension, *json);
    }
    *json += data_;
    *json += '}';

    auto envelope = texts.places();
    if (!envelope) {
        return read_back(std::move(json));
    }
    if (!data_.empty()) {
        auto name = data_.find(':') + 1;
        envelope->data =
            envelope->json.substr(json->size() - 1 - data_.size() + name, data_.size() - name);
        envelope->is_base64 = data_.starts_with(base64_name);
    }
    return Event{std::move(json), *envelope};
}

Event Builder::read_back(std::shared_ptr<const std::string> json) {
    auto reader = internal::EnvelopeReader{{}};
    auto scanner = internal::Scanner{*json};
    INVARIANT(reader.read_trusted(scanner).has_value(), "what was just written is an event");
    auto owner = std::shared_ptr<const void>{std::move(json)};
    const auto& envelope = reader.own(owner);
    return Event{std::move(owner), envelope};
}

} // namespace sluice::event

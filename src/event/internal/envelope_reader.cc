#include "event/internal/envelope_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <span>

#include "base/base64.h"
#include "event/internal/attribute_rules.h"
#include "event/internal/lookup.h"
#include "value/json.h"

namespace sluice::event::internal {

namespace {

using Step = Scanner::Step;

constexpr auto places = std::array{
    &Envelope::json, &Envelope::id,    &Envelope::source, &Envelope::type, &Envelope::subject,
    &Envelope::run,  &Envelope::scope, &Envelope::time,   &Envelope::data,
};

constexpr auto shown_bytes_max = std::size_t{80};
/// After so many events that look different the last of them is what others are held against; where
/// that does not help, after more.
constexpr auto strangers_min = std::size_t{4};
constexpr auto strangers_max = std::size_t{1024};

constexpr auto required = {Attribute::Specversion, Attribute::Id, Attribute::Source,
                           Attribute::Type};
constexpr auto required_bits = bit(Attribute::Specversion) | bit(Attribute::Id) |
                               bit(Attribute::Source) | bit(Attribute::Type);

std::string_view cut(std::string_view text) {
    auto size = std::min(text.size(), shown_bytes_max);
    while (size < text.size() && size > 0 &&
           (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80) {
        --size;
    }
    return text.substr(0, size);
}

std::string shown(std::string_view text) {
    auto out = std::string{};
    value::write_json_string(cut(text), out);
    return text.size() > shown_bytes_max ? out + "…" : out;
}

std::string shown_json(std::string_view json) {
    return std::string{cut(json)} + (json.size() > shown_bytes_max ? "…" : "");
}

std::unexpected<Error> not_json(const Scanner& scanner) {
    const auto& fault = scanner.fault();
    return fail(fault.is_limit ? Errc::LimitExceeded : Errc::InvalidInput,
                "not a JSON event: {} at byte {}", fault.what, scanner.offset());
}

std::unexpected<Error> unexpected_value(std::string_view name, std::string_view found,
                                        std::string_view expected) {
    return fail(Errc::InvalidInput, "attribute {} is {}: expected {}", shown(name), found,
                expected);
}

bool is_int32(const Scanner::Number& number) {
    auto parsed = std::int32_t{0};
    auto end = number.raw.data() + number.raw.size();
    return number.is_integer && std::from_chars(number.raw.data(), end, parsed).ec == std::errc{};
}

} // namespace

EnvelopeReader::EnvelopeReader(const Limits& limits)
    : limits_(limits), strangers_allowed_(strangers_min) {}

void EnvelopeReader::reset() {
    envelope_ = {};
    seen_ = 0;
    present_ = 0;
    attributes_ = 0;
    familiar_ = 0;
    must_copy_ = false;
    extensions_.clear();
    unescaped_.clear();
}

Result<void> EnvelopeReader::read(Scanner& scanner) {
    reset();
    scanner.skip_space();
    scanner.forget_line_breaks();
    const auto* begin = scanner.position();
    familiar_ = TRY(read_familiar(scanner));
    auto name = Scanner::String{};
    auto step = scanner.next_member(familiar_ == 0, name);
    auto is_familiar = step == Step::End && familiar_ == shape_.members().size();
    for (; step == Step::Item; step = scanner.next_member(false, name)) {
        TRY(read_member(scanner, name));
    }
    if (step == Step::Fault) {
        return not_json(scanner);
    }
    if ((present_ & required_bits) != required_bits) {
        return check_required();
    }
    envelope_.json = scanner.passed_since(begin);
    must_copy_ = must_copy_ || scanner.has_line_break();
    remember(is_familiar);
    return {};
}

Result<std::size_t> EnvelopeReader::read_familiar(Scanner& scanner) {
    for (const auto& stretch : shape_.stretches()) {
        const auto* begin = scanner.position();
        if (!scanner.take(stretch.text)) {
            return read_singly(scanner, stretch.first);
        }
        TRY(read_stretch(scanner, stretch, begin));
    }
    return shape_.members().size();
}

/// Its text has been passed: its names are right, and each stands once.
Result<void> EnvelopeReader::read_stretch(Scanner& scanner, const Shape::Stretch& stretch,
                                          const char* begin) {
    seen_ |= stretch.seen;
    present_ |= stretch.present;
    attributes_ += stretch.attributes;
    for (const auto& part : stretch.parts) {
        envelope_.*part.place = {begin + part.begin, part.size};
    }
    if (!stretch.has_open_end) {
        return {};
    }
    const auto& member = shape_.members()[stretch.behind - 1];
    scanner.skip_space();
    return read_value(scanner, member.attribute, {begin + stretch.name_begin, member.name_size});
}

/// From this member on one by one: the first that differs is noted, or ends what is familiar.
Result<std::size_t> EnvelopeReader::read_singly(Scanner& scanner, std::size_t at) {
    auto has_changed = false;
    auto read = Result<void>{};
    for (; at < shape_.members().size() && read; ++at) {
        const auto& member = shape_.members()[at];
        const auto* lead = scanner.position();
        if (!scanner.take(member.lead)) {
            break;
        }
        scanner.skip_space();
        seen_ |= bit(member.attribute);
        attributes_ += is_payload(member.attribute) ? 0 : 1;
        const auto* value = scanner.position();
        if (!member.value.empty() && scanner.take(member.value)) {
            keep(member.attribute, {value + 1, member.value.size() - 2});
            continue;
        }
        has_changed = has_changed || !member.value.empty();
        shape_.forget_value(at);
        read = read_value(scanner, member.attribute, {lead + member.name_begin, member.name_size});
    }
    if (has_changed) {
        shape_.join();
    }
    TRY(read);
    return at;
}

void EnvelopeReader::remember(bool is_familiar) {
    if (is_familiar) {
        strangers_ = 0;
        strangers_allowed_ = strangers_min;
    } else if (++strangers_ >= strangers_allowed_) {
        strangers_ = 0;
        strangers_allowed_ = std::min(strangers_allowed_ * 2, strangers_max);
        shape_.learn(envelope_.json);
    }
}

Result<void> EnvelopeReader::read_member(Scanner& scanner, const Scanner::String& raw_name) {
    auto name = text_of(raw_name);
    auto attribute = attribute_named(name);
    TRY(note_attribute(attribute, name));
    return read_value(scanner, attribute, name);
}

Result<void> EnvelopeReader::read_value(Scanner& scanner, Attribute attribute,
                                        std::string_view name) {
    if (attribute == Attribute::Data) {
        return read_data(scanner);
    }
    if (attribute == Attribute::DataBase64) {
        return read_base64(scanner);
    }
    if (scanner.peek() == '"') {
        return read_text(scanner, attribute, name);
    }
    return read_other(scanner, attribute, name);
}

Result<void> EnvelopeReader::note_attribute(Attribute attribute, std::string_view name) {
    auto is_extension = attribute == Attribute::Extension;
    if (is_extension && !is_attribute_name(name)) {
        return fail(Errc::InvalidInput, "attribute name {}: expected one or more of a-z and 0-9",
                    shown(name));
    }
    if (is_extension ? has_extension(name) : (seen_ & bit(attribute)) != 0) {
        return fail(Errc::InvalidInput, "member {} stands twice: expected it once", shown(name));
    }
    seen_ |= bit(attribute);
    if (is_extension) {
        extensions_.push_back(name);
    }
    attributes_ += is_payload(attribute) ? 0 : 1;
    if (attributes_ > limits_.attributes_max) {
        return fail(Errc::LimitExceeded, "the event has more attributes than {}",
                    limits_.attributes_max);
    }
    return {};
}

Result<void> EnvelopeReader::read_text(Scanner& scanner, Attribute attribute,
                                       std::string_view name) {
    auto string = Scanner::String{};
    if (!scanner.read_string(string)) {
        return not_json(scanner);
    }
    auto text = text_of(string);
    if (!string.is_plain && !is_attribute_text(text)) {
        return unexpected_value(name, shown(text), "no control characters and no noncharacters");
    }
    if (!is_valid(attribute, text)) {
        return unexpected_value(name, shown(text), rule_of(attribute).expected);
    }
    keep(attribute, text);
    return {};
}

Result<void> EnvelopeReader::read_other(Scanner& scanner, Attribute attribute,
                                        std::string_view name) {
    const auto* begin = scanner.position();
    auto first = scanner.peek();
    auto is_extension = attribute == Attribute::Extension;
    auto is_taken = first == 'n' || (is_extension && (first == 't' || first == 'f'));
    auto is_number = first == '-' || (first >= '0' && first <= '9');
    auto number = Scanner::Number{};
    auto is_passed =
        is_number ? scanner.read_number(number) : scanner.skip_value(limits_.depth_max);
    if (!is_passed) {
        return not_json(scanner);
    }
    if (!is_taken && !(is_extension && is_number && is_int32(number))) {
        return unexpected_value(name, shown_json(scanner.passed_since(begin)),
                                rule_of(attribute).expected);
    }
    return {};
}

Result<void> EnvelopeReader::read_data(Scanner& scanner) {
    const auto* begin = scanner.position();
    if (!scanner.skip_value(limits_.depth_max)) {
        return not_json(scanner);
    }
    if (has(Attribute::DataBase64)) {
        return fail(Errc::InvalidInput,
                    "both \"data\" and \"data_base64\" are there: expected one");
    }
    present_ |= bit(Attribute::Data);
    envelope_.data = scanner.passed_since(begin);
    return {};
}

Result<void> EnvelopeReader::read_base64(Scanner& scanner) {
    const auto* begin = scanner.position();
    auto string = Scanner::String{};
    if (scanner.peek() == 'n' && scanner.read_literal("null")) {
        return {};
    }
    auto is_string = scanner.peek() == '"';
    auto is_passed =
        is_string ? scanner.read_string(string) : scanner.skip_value(limits_.depth_max);
    if (!is_passed) {
        return not_json(scanner);
    }
    auto json = scanner.passed_since(begin);
    if (!is_string || !is_base64(text_of(string))) {
        return fail(Errc::InvalidInput, "member \"data_base64\" is {}: expected base64 text",
                    shown_json(json));
    }
    if (has(Attribute::Data)) {
        return fail(Errc::InvalidInput,
                    "both \"data\" and \"data_base64\" are there: expected one");
    }
    present_ |= bit(Attribute::DataBase64);
    envelope_.data = json;
    envelope_.is_base64 = true;
    return {};
}

Result<void> EnvelopeReader::check_required() const {
    for (auto attribute : required) {
        if (!has(attribute)) {
            return fail(Errc::InvalidInput, "attribute \"{}\" is missing: expected {}",
                        rule_of(attribute).name, rule_of(attribute).expected);
        }
    }
    return {};
}

Result<void> EnvelopeReader::read_trusted(Scanner& scanner) {
    reset();
    scanner.skip_space();
    scanner.forget_line_breaks();
    const auto* begin = scanner.position();
    auto name = Scanner::String{};
    auto step = scanner.next_member(true, name);
    while (step == Step::Item && read_trusted_member(scanner, name)) {
        step = scanner.next_member(false, name);
    }
    if (step != Step::End) {
        return fail(Errc::Corrupt, "a stored event is not JSON: {} at byte {}",
                    scanner.fault().what, scanner.offset());
    }
    if (envelope_.id.empty() || envelope_.source.empty() || envelope_.type.empty()) {
        return fail(Errc::Corrupt, "a stored event lacks its id, source or type");
    }
    envelope_.json = scanner.passed_since(begin);
    must_copy_ = must_copy_ || scanner.has_line_break();
    return {};
}

bool EnvelopeReader::read_trusted_member(Scanner& scanner, const Scanner::String& raw_name) {
    auto attribute = attribute_named(text_of(raw_name));
    const auto* begin = scanner.position();
    auto string = Scanner::String{};
    auto is_text = scanner.peek() == '"';
    if (!(is_text ? scanner.read_string(string) : scanner.skip_value(depth_max_hard))) {
        return false;
    }
    auto is_bytes = attribute == Attribute::DataBase64 && is_text && is_base64(text_of(string));
    if (attribute == Attribute::Data || is_bytes) {
        envelope_.data = scanner.passed_since(begin);
        envelope_.is_base64 = is_bytes;
    } else if (is_text && attribute != Attribute::Extension) {
        keep(attribute, text_of(string));
    }
    return true;
}

std::string_view EnvelopeReader::text_of(const Scanner::String& string) {
    if (!string.has_escape) {
        return string.raw;
    }
    return internal::text_of(string, unescaped_.emplace_back());
}

void EnvelopeReader::keep(Attribute attribute, std::string_view text) {
    present_ |= bit(attribute);
    if (auto place = rule_of(attribute).place; place != nullptr) {
        envelope_.*place = text;
        must_copy_ = must_copy_ || (!unescaped_.empty() && text.data() == unescaped_.back().data());
    }
}

bool EnvelopeReader::has(Attribute attribute) const {
    return (present_ & bit(attribute)) != 0;
}

bool EnvelopeReader::has_extension(std::string_view name) const {
    auto familiar = std::span{shape_.members()}.first(familiar_);
    return std::ranges::find(extensions_, name) != extensions_.end() ||
           std::ranges::any_of(familiar, [&](const Shape::Member& member) {
               return member.attribute == Attribute::Extension && member.name() == name;
           });
}

const Envelope& EnvelopeReader::own(std::shared_ptr<const void>& owner) {
    if (!must_copy_) {
        return envelope_;
    }
    auto json = envelope_.json;
    auto is_inside = [json](std::string_view view) {
        return view.data() == nullptr || (std::less_equal{}(json.data(), view.data()) &&
                                          std::less{}(view.data(), json.data() + json.size()));
    };
    auto size = json.size();
    for (auto place : places) {
        size += is_inside(envelope_.*place) ? 0 : (envelope_.*place).size();
    }
    auto buffer = std::make_shared<char[]>(size);
    // Line breaks outside of strings are space: without them an event is a line.
    std::ranges::replace_copy_if(
        json, buffer.get(), [](char byte) { return byte == '\n' || byte == '\r'; }, ' ');

    auto owned = envelope_;
    auto* tail = buffer.get() + json.size();
    for (auto place : places) {
        auto view = envelope_.*place;
        if (is_inside(view)) {
            owned.*place =
                view.empty()
                    ? view
                    : std::string_view{buffer.get() + (view.data() - json.data()), view.size()};
        } else {
            owned.*place = {tail, view.size()};
            tail = std::ranges::copy(view, tail).out;
        }
    }
    owner = std::move(buffer);
    envelope_ = owned;
    must_copy_ = false;
    return envelope_;
}

} // namespace sluice::event::internal

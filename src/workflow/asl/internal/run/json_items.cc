#include "workflow/asl/internal/run/json_items.h"

#include <charconv>
#include <tuple>
#include <utility>

#include "value/json.h"

namespace sluice::workflow::asl::internal::run {

namespace {

constexpr auto item_bytes_max = std::size_t{8} << 20U;

bool is_blank(char sign) {
    return sign == ' ' || sign == '\t' || sign == '\n' || sign == '\r';
}

std::unexpected<Error> not_iterable() {
    return fail(Errc::InvalidInput, "Attempting to map over non-iterable node.");
}

/// RFC 6901: `~1` is a slash, `~0` a tilde.
std::string unescaped(std::string_view part) {
    auto name = std::string{};
    for (auto at = std::size_t{0}; at < part.size(); ++at) {
        auto is_escape = part[at] == '~' && at + 1 < part.size();
        name += !is_escape ? part[at] : part[at + 1] == '1' ? '/' : '~';
        at += is_escape ? 1 : 0;
    }
    return name;
}

} // namespace

Result<char> JsonItems::peek() {
    if (at_ == part_.size()) {
        base_ += part_.size();
        at_ = 0;
        part_ = TRY(read_(base_));
    }
    return part_.empty() ? end : part_[at_];
}

Result<char> JsonItems::peek_sign() {
    auto sign = TRY(peek());
    while (is_blank(sign)) {
        ++at_;
        sign = TRY(peek());
    }
    return sign;
}

Result<Value> JsonItems::parse(std::string_view text) const {
    auto parsed = value::parse_json(text, {.bytes_max = item_bytes_max, .depth_max = 128});
    if (!parsed) {
        return fail(Errc::InvalidInput, "Unable to parse the JSON file: {}",
                    parsed.error().message);
    }
    return *std::move(parsed);
}

Result<void> JsonItems::enter() {
    auto sign = TRY(peek_sign());
    if (sign != '[' && sign != '{') {
        auto text = TRY(take_value());
        std::ignore = TRY(parse(text));
        return not_iterable();
    }
    is_object_ = sign == '{';
    ++at_;
    return {};
}

Result<std::string> JsonItems::take_value(Use use) {
    auto text = std::string{};
    auto take = [&](char sign) {
        if (use == Use::Keep || text.empty()) {
            text += sign;
        }
        ++at_;
    };
    auto depth = 0;
    auto is_text = false;
    auto sign = TRY(peek_sign());
    while (sign != end && text.size() <= item_bytes_max) {
        auto is_close = !is_text && (sign == '}' || sign == ']');
        if (!is_text && depth == 0 && (is_close || sign == ',' || sign == ':' || is_blank(sign))) {
            return text;
        }
        if (is_text && sign == '\\') {
            take(sign);
            sign = TRY(peek());
        } else if (sign == '"') {
            is_text = !is_text;
        } else if (!is_text && (sign == '{' || sign == '[')) {
            ++depth;
        }
        depth -= is_close ? 1 : 0;
        take(sign);
        if (depth == 0 && !is_text && (is_close || sign == '"')) {
            return text;
        }
        sign = TRY(peek());
    }
    if (text.size() > item_bytes_max) {
        return fail(Errc::LimitExceeded, "an item has more than {} bytes", item_bytes_max);
    }
    return text;
}

Result<std::string> JsonItems::take_key() {
    auto text = TRY(take_value());
    auto key = TRY(parse(text));
    auto sign = TRY(peek_sign());
    if (!key.is_string() || sign != ':') {
        return fail(Errc::InvalidInput, "Unable to parse the JSON file: expected a member at {}",
                    offset());
    }
    ++at_;
    return std::string{key.as_string()};
}

Result<void> JsonItems::go_to(const std::string& name) {
    auto index = std::uint64_t{0};
    auto [last, error] = std::from_chars(name.data(), name.data() + name.size(), index);
    auto is_index = error == std::errc{} && last == name.data() + name.size();
    for (auto at = std::uint64_t{0};; ++at) {
        auto sign = TRY(peek_sign());
        if (sign == ']' || sign == '}' || sign == end) {
            return not_iterable();
        }
        at_ += sign == ',' ? 1 : 0;
        auto is_there = is_index && at == index;
        if (is_object_) {
            auto key = TRY(take_key());
            is_there = key == name;
        }
        if (is_there) {
            return {};
        }
        auto passed = TRY(take_value(Use::Pass));
        if (passed.empty()) {
            return fail(Errc::InvalidInput, "Unable to parse the JSON file: expected a value at {}",
                        offset());
        }
    }
}

Result<void> JsonItems::seek(std::string_view pointer) {
    TRY(enter());
    while (pointer.starts_with('/')) {
        pointer.remove_prefix(1);
        auto part = pointer.substr(0, pointer.find('/'));
        pointer.remove_prefix(part.size());
        TRY(go_to(unescaped(part)));
        TRY(enter());
    }
    return {};
}

void JsonItems::resume(std::uint64_t offset, bool is_object) {
    base_ = offset;
    is_object_ = is_object;
}

Result<std::optional<Value>> JsonItems::next() {
    auto sign = TRY(peek_sign());
    if (sign == ',') {
        ++at_;
    } else if (sign == (is_object_ ? '}' : ']')) {
        return std::nullopt;
    }
    auto key = std::string{};
    if (is_object_) {
        key = TRY(take_key());
    }
    auto text = TRY(take_value());
    auto member = TRY(parse(text));
    if (!is_object_) {
        return member;
    }
    return Value::object({{"Key", std::move(key)}, {"Value", std::move(member)}});
}

} // namespace sluice::workflow::asl::internal::run

#include "event/trace.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/fingerprint.h"

namespace sluice::event {

namespace {

constexpr auto id_digits = std::size_t{32};
constexpr auto span_digits = std::size_t{16};
constexpr auto text_bytes = std::size_t{55}; // 00-<id>-<span>-<flags>

bool is_hex(std::string_view text) {
    return std::ranges::all_of(
        text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_zero(std::string_view digits) {
    return std::ranges::all_of(digits, [](char c) { return c == '0'; });
}

} // namespace

std::string trace_of(const Event& event) {
    constexpr auto name = std::string_view{"traceparent"};
    if (!event.json().contains(name)) {
        return {}; // Most events: looking for the attribute would read all of them.
    }
    auto value = event.attribute(name);
    return value && value->is_string() ? std::string{value->as_string()} : std::string{};
}

std::optional<Trace> parse_trace(std::string_view traceparent) {
    if (traceparent.size() != text_bytes || !traceparent.starts_with("00-") ||
        traceparent[35] != '-' || traceparent[52] != '-') {
        return std::nullopt;
    }
    auto id = traceparent.substr(3, id_digits);
    auto span = traceparent.substr(36, span_digits);
    auto flags = traceparent.substr(53, 2);
    if (!is_hex(id) || !is_hex(span) || !is_hex(flags) || is_zero(id) || is_zero(span)) {
        return std::nullopt;
    }
    auto last = flags[1];
    auto digit = last <= '9' ? last - '0' : last - 'a' + 10;
    return Trace{.id = id, .span = span, .is_sampled = digit % 2 == 1};
}

std::string span_of(std::string_view key) {
    auto print = fingerprint(key).low;
    return fmt::format("{:016x}", print == 0 ? 1 : print);
}

std::string trace_under(std::string_view traceparent, std::string_view key) {
    auto trace = parse_trace(traceparent);
    return trace ? fmt::format("00-{}-{}-{}", trace->id, span_of(key),
                               trace->is_sampled ? "01" : "00")
                 : std::string{};
}

} // namespace sluice::event

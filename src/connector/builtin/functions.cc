#include "connector/builtin/functions.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/fingerprint.h"
#include "base/random.h"
#include "base/result.h"
#include "value/json.h"
#include "value/time_text.h"

namespace sluice::connector::builtin {
namespace {

using event::Answer;
using event::Delivery;
using event::failure;

// About 30 years: far beyond any use, well within what nanoseconds can count.
constexpr auto seconds_max = 1e9;
constexpr auto shown_bytes_max = std::size_t{100};

std::string shown(const Value& value) {
    auto json = value::to_json(value);
    return json.size() <= shown_bytes_max ? json : "a " + std::string{to_string(value.kind())};
}

std::optional<double> number_of(const Value& value) {
    switch (value.kind()) {
        case value::Kind::Int: return static_cast<double>(value.as_int());
        case value::Kind::Uint: return static_cast<double>(value.as_uint());
        case value::Kind::Double: return value.as_double();
        default: return std::nullopt;
    }
}

Answer success(Value result) {
    auto answer = Answer{};
    answer.result = std::move(result);
    return answer;
}

/// The member `value` of the input where there is one, else the input itself.
Value value_of(const Value& input) {
    const auto* value = input.find("value");
    return value != nullptr ? *value : input;
}

Result<std::string> text_member(const Value& input, std::string_view name,
                                std::string_view otherwise) {
    const auto* member = input.find(name);
    if (member == nullptr) {
        return std::string{otherwise};
    }
    if (!member->is_string()) {
        return fail(Errc::InvalidInput, "{} is {}: expected a text", name, shown(*member));
    }
    return std::string{member->as_string()};
}

Result<Nanos> from_seconds(const Value& seconds) {
    auto number = number_of(seconds);
    if (!number || !(*number >= 0 && *number <= seconds_max)) {
        return fail(Errc::InvalidInput, "seconds is {}: expected a number from 0 to {:.0f}",
                    shown(seconds), seconds_max);
    }
    return Nanos{std::llround(*number * 1e9)};
}

Result<Nanos> from_duration(const Value& duration) {
    auto parsed = Nanos{-1};
    if (duration.is_duration()) {
        parsed = duration.as_duration();
    } else if (duration.is_string()) {
        parsed = value::parse_duration(duration.as_string()).value_or(Nanos{-1});
    }
    if (parsed < Nanos{0}) {
        return fail(Errc::InvalidInput, R"(duration is {}: expected a text such as "250ms")",
                    shown(duration));
    }
    return parsed;
}

Result<Reply> echo(const Delivery& delivery, std::uint64_t) {
    return Reply{.answer = success(delivery.payload)};
}

Result<Reply> noop(const Delivery&, std::uint64_t) {
    return Reply{.answer = success({})};
}

Result<Reply> sleep(const Delivery& delivery, std::uint64_t) {
    const auto* seconds = delivery.payload.find("seconds");
    const auto* duration = delivery.payload.find("duration");
    if ((seconds == nullptr) == (duration == nullptr)) {
        return fail(Errc::InvalidInput,
                    "the input is {}: expected either seconds or duration in it",
                    shown(delivery.payload));
    }
    auto delay = TRY(seconds != nullptr ? from_seconds(*seconds) : from_duration(*duration));
    return Reply{.delay = delay, .answer = success(value_of(delivery.payload))};
}

Result<Reply> fail_as_asked(const Delivery& delivery, std::uint64_t) {
    const auto& input = delivery.payload;
    auto kind = TRY(text_member(input, "kind", "failed"));
    auto message = TRY(text_member(input, "message", "failed as asked"));
    const auto* detail = input.find("detail");
    return Reply{.answer = failure(kind, message, detail != nullptr ? *detail : Value{})};
}

/// Chance follows from the attempt, so that a repeated delivery of it fares the same.
bool is_struck(const Delivery& delivery, std::uint64_t seed, double rate) {
    auto random = Random{hash64(delivery.key, seed) + delivery.attempt};
    return random.chance(rate);
}

Result<Reply> flaky(const Delivery& delivery, std::uint64_t seed) {
    const auto& input = delivery.payload;
    const auto* given = input.find("rate");
    auto rate = given != nullptr ? number_of(*given) : std::nullopt;
    if (!rate || !(*rate >= 0 && *rate <= 1)) {
        return fail(Errc::InvalidInput, "rate is {}: expected a number from 0 to 1",
                    given != nullptr ? shown(*given) : "missing");
    }
    auto kind = TRY(text_member(input, "kind", "failed"));
    auto message =
        TRY(text_member(input, "message", fmt::format("failed by chance, at rate {}", *rate)));
    if (is_struck(delivery, seed, *rate)) {
        return Reply{.answer = failure(kind, message)};
    }
    return Reply{.answer = success(value_of(input))};
}

struct Entry {
    std::string_view name;
    Result<Reply> (*call)(const Delivery&, std::uint64_t);
};

constexpr auto functions = std::array{
    Entry{"echo", echo},          Entry{"noop", noop},   Entry{"sleep", sleep},
    Entry{"fail", fail_as_asked}, Entry{"flaky", flaky},
};

Result<Reply> stand_in(const Delivery& delivery) {
    const auto& input = delivery.payload;
    const auto* seconds = input.find("seconds");
    const auto* outputs = input.find("outputs");
    return Reply{.delay = seconds == nullptr ? Nanos{0} : TRY(from_seconds(*seconds)),
                 .answer = success(outputs != nullptr ? *outputs : input)};
}

Reply or_failure(Result<Reply> reply) {
    return reply ? *std::move(reply)
                 : Reply{.answer = failure("invalid_input", reply.error().message)};
}

const Entry* find_function(std::string_view name) {
    auto found = std::ranges::find(functions, name, &Entry::name);
    return found == functions.end() ? nullptr : &*found;
}

} // namespace

Reply simulate(const Delivery& delivery, std::uint64_t seed, double time_scale) {
    const auto* function = find_function(delivery.target);
    auto reply =
        or_failure(function == nullptr ? stand_in(delivery) : function->call(delivery, seed));
    auto scaled = static_cast<double>(reply.delay.count()) * time_scale;
    // Both factors have bounds, their product may be more than nanoseconds can count.
    reply.delay = Nanos{std::llround(std::min(scaled, seconds_max * 1e9))};
    return reply;
}

Reply call(const Delivery& delivery, std::uint64_t seed) {
    if (const auto* function = find_function(delivery.target)) {
        return or_failure(function->call(delivery, seed));
    }
    auto message = fmt::format(
        "no builtin function '{}': expected echo, noop, sleep, fail or flaky", delivery.target);
    return Reply{.answer = failure("unknown_function", std::move(message))};
}

} // namespace sluice::connector::builtin

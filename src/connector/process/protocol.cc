#include "connector/process/protocol.h"

#include <utility>
#include <vector>

#include "base/utf8.h"
#include "value/json.h"

namespace sluice::connector::process {

namespace {

constexpr auto line_shown_bytes = std::size_t{80};

std::string excerpt(std::string_view line) {
    return replace_invalid_utf8(line.substr(0, line_shown_bytes)) +
           (line.size() > line_shown_bytes ? "…" : "");
}

/// The run of an idempotency key, `[namespace/]run/fire/index`.
std::string run_of(std::string_view key) {
    for (auto part = 0; part < 2; ++part) {
        key = key.substr(0, key.rfind('/'));
    }
    auto slash = key.rfind('/');
    return std::string{slash == std::string_view::npos ? key : key.substr(slash + 1)};
}

std::string text_in(const Value& map, std::string_view name, std::string_view otherwise) {
    const auto* found = map.find(name);
    return std::string{found != nullptr && found->is_string() ? found->as_string() : otherwise};
}

event::Answer failure_of(const Value& error) {
    if (!error.is_map()) {
        return event::failure(
            "error", error.is_string() ? std::string{error.as_string()} : value::to_json(error));
    }
    const auto* detail = error.find("detail");
    return event::failure(text_in(error, "kind", "error"),
                          text_in(error, "message", "the function failed"),
                          detail == nullptr ? Value{} : *detail);
}

} // namespace

std::string request_line(std::uint64_t id, const event::Delivery& delivery) {
    auto line = value::to_json(Value::object({{"id", static_cast<std::int64_t>(id)},
                                              {"function", delivery.target},
                                              {"input", delivery.payload},
                                              {"run", run_of(delivery.key)},
                                              {"idempotency_key", delivery.key},
                                              {"attempt", std::int64_t{delivery.attempt}},
                                              {"token", delivery.token}}));
    line += '\n';
    return line;
}

Result<std::variant<event::Answer, Heartbeat>> read_line(std::uint64_t id, std::string_view line) {
    auto said = value::parse_json(line);
    if (!said || !said->is_map()) {
        return fail(Errc::InvalidInput, "wrote '{}', expected a line with one JSON object",
                    excerpt(line));
    }
    const auto* named = said->find("id");
    if (named == nullptr || *named != Value{static_cast<std::int64_t>(id)}) {
        return fail(Errc::InvalidInput, "answered the id {}, expected {}",
                    named == nullptr ? "nothing" : excerpt(value::to_json(*named)), id);
    }
    if (const auto* error = said->find("error")) {
        return failure_of(*error);
    }
    if (const auto* result = said->find("result")) {
        return event::Answer{.result = *result};
    }
    if (said->find("heartbeat") != nullptr) {
        return Heartbeat{};
    }
    return fail(Errc::InvalidInput, "wrote '{}', expected result, error or heartbeat beside the id",
                excerpt(line));
}

} // namespace sluice::connector::process

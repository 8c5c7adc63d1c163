#include "connector/nats/publish_answer.h"

#include <cstdint>

#include "value/json.h"

namespace sluice::connector::nats {

namespace {

constexpr auto answer_bytes_max = std::size_t{64} << 10U;
constexpr auto too_large = std::int64_t{10054};
constexpr auto sealed = std::int64_t{10109};

Errc code_of(std::int64_t code) {
    switch (code) {
        case too_large: return Errc::LimitExceeded;
        case sealed: return Errc::InvalidInput;
        default: return Errc::Unavailable;
    }
}

} // namespace

Result<void> parse_publish_answer(std::string_view json) {
    // Almost all are {"stream":"…","seq":…}, perhaps with "duplicate":true.
    if (json.starts_with(R"({"stream":)") && json.contains(R"("seq":)") &&
        !json.contains(R"("error")")) {
        return {};
    }
    auto answer = value::parse_json(json, {.bytes_max = answer_bytes_max});
    const auto* error = answer ? answer->find("error") : nullptr;
    if (error != nullptr && error->is_map()) {
        const auto* code = error->find("err_code");
        const auto* text = error->find("description");
        return fail(code_of(code != nullptr && code->is_int() ? code->as_int() : 0),
                    "the stream did not take it: {}",
                    text != nullptr && text->is_string() ? text->as_string() : "no reason given");
    }
    if (answer && answer->find("stream") != nullptr && answer->find("seq") != nullptr) {
        return {};
    }
    return fail(Errc::Unavailable, "somebody else than JetStream answered: {}",
                json.substr(0, 100));
}

} // namespace sluice::connector::nats

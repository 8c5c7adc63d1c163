#include "store/postgres/internal/failure.h"

#include <utility>

#include <fmt/format.h>

namespace sluice::store::postgres {
namespace {

Errc code_of_refusal(std::string_view state) {
    if (state == "42P01" || state == "42703" || state.starts_with("XX")) {
        return Errc::Corrupt;
    }
    // A pooler gave us the connection of somebody else.
    if (state == "26000" || state == "42P05" || state == "0A000") {
        return Errc::Unsupported;
    }
    if (state.starts_with("22") || state.starts_with("28") || state == "42501") {
        return Errc::InvalidInput;
    }
    return state.starts_with("54")   ? Errc::LimitExceeded
           : state.starts_with("58") ? Errc::Io
                                     : Errc::Internal;
}

} // namespace

Failure lost(std::string message) {
    return {.trouble = Trouble::Lost, .code = Errc::Unavailable, .message = std::move(message)};
}

Failure refused(Errc code, std::string message) {
    return {.trouble = Trouble::Refused, .code = code, .message = std::move(message)};
}

Failure failure_of(std::string_view state, std::string message) {
    if (state.starts_with("08") || state.starts_with("57P") || state == "25P03") {
        return lost(std::move(message));
    }
    // The statement of the fences divides by 0 when one does not match.
    if (state == "22012") {
        return {.trouble = Trouble::Fenced, .code = Errc::Stale, .message = std::move(message)};
    }
    if (state == "53100") {
        return {.trouble = Trouble::Full, .code = Errc::NoSpace, .message = std::move(message)};
    }
    if (state == "25006") {
        return {
            .trouble = Trouble::ReadOnly, .code = Errc::Unavailable, .message = std::move(message)};
    }
    if (state.starts_with("40") || state.starts_with("53") || state == "55P03" ||
        state == "57014") {
        return {.trouble = Trouble::Busy, .code = Errc::Unavailable, .message = std::move(message)};
    }
    return refused(code_of_refusal(state), fmt::format("{} (SQLSTATE {})", message, state));
}

} // namespace sluice::store::postgres

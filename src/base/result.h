#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

namespace sluice {

/// What kind of thing went wrong, for code that reacts to it; the message is for people.
enum class Errc : std::uint8_t {
    InvalidInput,
    NotFound,
    AlreadyExists,
    Conflict,
    Stale, ///< The caller's epoch or commit number is no longer the current one.
    LimitExceeded,
    Corrupt,
    Io,
    NoSpace,
    Unavailable,
    Unsupported,
    Internal,
};

std::string_view to_string(Errc code);

struct Error {
    Errc code = Errc::Internal;
    std::string message;

    bool operator==(const Error&) const = default;
};

/// What can go wrong in a correct program. Unlike a plain std::expected it cannot be dropped
/// unseen.
template <typename T>
class [[nodiscard]] Result : public std::expected<T, Error> {
public:
    using std::expected<T, Error>::expected;
};

/// Clang cannot take std::expected's own comparison through a derived class.
template <typename T>
bool operator==(const Result<T>& left, const Result<T>& right) {
    if (left.has_value() != right.has_value()) {
        return false;
    }
    if (!left.has_value()) {
        return left.error() == right.error();
    }
    if constexpr (std::is_void_v<T>) {
        return true;
    } else {
        return *left == *right;
    }
}

/// `return fail(Errc::NotFound, "no run {}", id);`
template <typename... Args>
std::unexpected<Error> fail(Errc code, fmt::format_string<Args...> format, Args&&... args) {
    return std::unexpected(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

} // namespace sluice

/// The value of a Result, or return its error from the function around it. What the same expression
/// has made before it is not destroyed then: give its value a name where something is, as in
/// `list.push_back({std::string{key}, std::move(value)})`.
#define TRY(...)                                                   \
    __extension__({                                                \
        auto try_result = (__VA_ARGS__);                           \
        if (!try_result) [[unlikely]] {                            \
            return std::unexpected(std::move(try_result).error()); \
        }                                                          \
        *std::move(try_result);                                    \
    })

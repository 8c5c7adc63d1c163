#pragma once

#include <string_view>

namespace sluice {

/// Says where and why on stderr, then aborts: a wrong record must never be written.
[[noreturn]] void stop_broken(std::string_view condition, std::string_view why,
                              std::string_view file, int line);

} // namespace sluice

/// What only a bug can break, never input from outside. Checked in release builds too.
#define INVARIANT(condition, why)                                       \
    do {                                                                \
        if (!(condition)) [[unlikely]] {                                \
            ::sluice::stop_broken(#condition, why, __FILE__, __LINE__); \
        }                                                               \
    } while (false)

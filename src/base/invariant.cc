#include "base/invariant.h"

#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

namespace sluice {

void stop_broken(std::string_view condition, std::string_view why, std::string_view file,
                 int line) {
    auto text =
        fmt::format("sluice: broken invariant at {}:{}: {} ({})\n", file, line, why, condition);
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::abort();
}

} // namespace sluice

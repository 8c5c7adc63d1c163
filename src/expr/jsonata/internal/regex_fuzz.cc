#include <cstddef>
#include <cstdint>
#include <string_view>

#include "expr/jsonata/internal/raise.h"
#include "expr/jsonata/internal/regex.h"

/// The pattern up to the first line end, then a text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice::expr::jsonata::internal;
    auto input = std::string_view{reinterpret_cast<const char*>(data), size};
    auto split = input.find('\n');
    if (split == input.npos) {
        return 0;
    }
    auto steps = std::size_t{0};
    auto spend = [&](std::size_t spent) {
        steps += spent;
        if (steps > 10'000) {
            raise("U1001", "spent");
        }
    };
    try {
        for (const auto* flags : {"", "im"}) {
            auto text = input.substr(split + 1);
            auto found = Regex{input.substr(0, split), flags}.search(text, 0, spend);
            if (found && found->groups[0]->end > text.size()) {
                __builtin_trap();
            }
        }
    } catch (const Raised&) {
        return 0;
    }
    return 0;
}

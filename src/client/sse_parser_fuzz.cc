#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/invariant.h"
#include "client/sse_parser.h"

// Wherever the bytes are cut, the same events come out.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace sluice; // NOLINT(google-build-using-namespace): a fuzzer has one function.
    auto text = std::string_view{reinterpret_cast<const char*>(bytes), size};
    auto parse = [&](std::size_t step) {
        auto parser = client::SseParser{1'000};
        auto events = std::vector<client::ServerSentEvent>{};
        for (auto at = std::size_t{0}; at < text.size(); at += step) {
            auto fed = parser.feed(text.substr(at, step), [&](const auto& event) {
                events.push_back(event);
                return true;
            });
            if (!fed) {
                break;
            }
        }
        return events;
    };
    auto whole = parse(text.size() + 1);
    INVARIANT(parse(1) == whole, "a cut changes nothing");
    INVARIANT(parse(3) == whole, "a cut changes nothing");
    return 0;
}

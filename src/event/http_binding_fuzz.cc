#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "event/http_binding.h"

using namespace sluice::event;

/// Lines `name: value` up to an empty one, then the body. What was read is written and read again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    auto text = std::string_view{reinterpret_cast<const char*>(bytes), size};
    auto fields = std::vector<HttpField>{};
    while (!text.empty() && text.front() != '\n') {
        auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(line.size() < text.size() ? line.size() + 1 : text.size());
        auto colon = line.find(": ");
        if (colon != std::string_view::npos) {
            fields.emplace_back(line.substr(0, colon), line.substr(colon + 2));
        }
    }
    auto codec = Codec{};
    auto events = read_http(codec, fields, text.substr(text.empty() ? 0 : 1));
    for (const auto& event : events ? *events : std::vector<Event>{}) {
        auto sent = to_http(event);
        auto again = read_http(
            codec, std::vector<HttpField>{sent.fields.begin(), sent.fields.end()}, sent.body);
        if (!again || again->size() != 1 || again->front().id() != event.id() ||
            again->front().subject() != event.subject()) {
            std::abort();
        }
    }
    return 0;
}

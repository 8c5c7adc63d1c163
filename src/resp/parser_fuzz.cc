#include <cstddef>
#include <cstdint>
#include <string>

#include "base/invariant.h"
#include "resp/parser.h"

namespace sluice::resp {
namespace {

constexpr auto limits =
    Limits{.reply_bytes_max = 1 << 16, .elements_max = 1000, .depth_max = 8, .line_bytes_max = 100};

/// A reply as text, by way of everything a reader may ask of it.
void write(const Reply& reply, std::string& out) {
    out += to_string(reply.kind());
    out += ' ';
    out += reply.text();
    out += std::to_string(reply.number());
    auto items = std::size_t{0};
    for (const auto& item : reply) {
        write(item, out);
        ++items;
    }
    INVARIANT(!reply.is_list() || items == reply.size(), "a list has as many items as it says");
}

/// Fed all at once, or grown by steps with the data elsewhere each time.
std::string parse(std::string_view data, std::size_t step) {
    auto parser = Parser{limits};
    for (auto size = std::min(step, data.size());; size = std::min(size + step, data.size())) {
        auto part = std::string{data.substr(0, size)};
        auto done = parser.feed(part);
        if (!done) {
            return "error " + done.error().message;
        }
        if (*done) {
            auto text = std::to_string(parser.consumed()) + " ";
            write(parser.reply(part), text);
            return text;
        }
        INVARIANT(parser.needed() > size, "what is not complete needs more");
        if (size == data.size()) {
            return "more";
        }
    }
}

} // namespace
} // namespace sluice::resp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    auto step = std::size_t{data[0]} % 16 + 1;
    auto text = std::string_view{reinterpret_cast<const char*>(data) + 1, size - 1};
    auto whole = sluice::resp::parse(text, text.size() + 1);
    auto parts = sluice::resp::parse(text, step);
    // A line that is too long may be told before its end has come.
    INVARIANT(
        whole == parts || whole.starts_with("error a line") || parts.starts_with("error a line"),
        "how the bytes arrive does not matter");
    return 0;
}

#include <cstdint>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "value/json.h"
#include "workflow/asl/item_pages.h"

namespace asl = sluice::workflow::asl;
using sluice::Value;

namespace {

// A cursor that does not get ahead would never end.
constexpr auto pages_max = 1'000;

/// `ReaderConfig`, and `prefix` for a listing.
Value request_of(const Value& config) {
    auto is_list = config.find("prefix") != nullptr;
    return Value::object({{"resource", is_list ? "arn:aws:states:::s3:listObjectsV2"
                                               : "arn:aws:states:::s3:getObject"},
                          {"arguments", Value::object({{"Bucket", "b"}, {"Key", "k"}})},
                          {"config", config},
                          {"most", 7}});
}

} // namespace

// A line with what the author says of a file, then the file, from anybody: pages to the end, or a
// failure.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    auto text = std::string_view{reinterpret_cast<const char*>(data), size};
    auto line = text.find('\n');
    auto config = sluice::value::parse_json(text.substr(0, line));
    if (!config || !config->is_map() || line == std::string_view::npos) {
        return 0;
    }
    auto objects = asl::ObjectsInMemory{};
    INVARIANT(objects.write("b", "k", text.substr(line + 1)), "memory takes any object");
    auto pages = asl::ItemPages{objects};
    auto request = request_of(*config);
    for (auto count = 0; count < pages_max; ++count) {
        auto page = pages.read(request);
        const auto* cursor = page ? page->find("cursor") : nullptr;
        if (cursor == nullptr || cursor->is_null()) {
            return 0;
        }
        INVARIANT(request.find("cursor") == nullptr || *request.find("cursor") != *cursor,
                  "a page goes on behind the one before");
        request = request.with("cursor", *cursor);
    }
    return 0;
}

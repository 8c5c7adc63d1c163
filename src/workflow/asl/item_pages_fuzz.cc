#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "workflow/asl/item_pages.h"

// What an object holds that a Map state reads, in each form: read in pages, it comes to an end.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    auto text = std::string_view{reinterpret_cast<const char*>(data), size};
    auto objects = workflow::asl::ObjectsInMemory{};
    INVARIANT(objects.write("b", "k", text).has_value(), "memory takes what it is given");
    for (auto type : {"JSON", "JSONL", "CSV", "MANIFEST"}) {
        auto request = Value::object(
            {{"resource", "s3:getObject"},
             {"arguments", Value::object({{"Bucket", "b"}, {"Key", "k"}})},
             {"config",
              Value::object({{"InputType", type}, {"ItemsPointer", size % 2 ? "/0" : ""}})},
             {"most", 3}});
        auto pages = std::size_t{0};
        for (auto page = workflow::asl::ItemPages{objects}.read(request);
             page && page->find("cursor") != nullptr;
             page = workflow::asl::ItemPages{objects}.read(request)) {
            INVARIANT(++pages <= (size + 1) * (size + 1), "every page takes a part of an object");
            request = request.with("cursor", *page->find("cursor"));
        }
    }
    return 0;
}

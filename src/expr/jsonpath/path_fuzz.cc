#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "expr/jsonpath/path.h"
#include "expr/jsonpath/reference_path.h"
#include "value/json.h"

// The first line is a path, the rest a document: whatever is taken answers, and the place of a
// match leads back to it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace sluice;
    using expr::jsonpath::Dialect;
    using expr::jsonpath::Path;
    auto input = std::string_view{reinterpret_cast<const char*>(bytes), size};
    auto end = input.find('\n');
    auto text = input.substr(0, end);
    auto parsed = value::parse_json(end == std::string_view::npos ? "" : input.substr(end + 1));
    auto document = parsed ? *parsed
                           : Value::object({{"a", Value::list({1, "b", Value::object({{"a", 2}})})},
                                            {"b", "text"}});
    auto budget = expr::Budget{.steps_max = 10'000};
    if (auto path = Path::compile(text, Dialect::Rfc9535)) {
        auto matches = path->locate(document, budget);
        auto values = path->select(document, budget);
        INVARIANT(matches.has_value() == values.has_value(), "places change nothing");
        for (auto at = std::size_t{0}; matches && at < matches->size() && at < 10; ++at) {
            auto place = Path::compile((*matches)[at].path, Dialect::Rfc9535);
            INVARIANT(place && place->is_definite(), "a normalized path is a path");
            auto again = place->select(document);
            INVARIANT(again && *again == std::vector{(*matches)[at].value}, "it leads back");
        }
    }
    if (auto path = Path::compile(text, Dialect::Jayway)) {
        auto read = path->read(document, budget);
        INVARIANT(!read || path->is_definite() || read->is_list(), "several are a list");
    }
    if (auto path = expr::jsonpath::ReferencePath::compile(text)) {
        auto made = path->write(document, Value{"new"});
        INVARIANT(!made || path->read(*made).value() == Value{"new"}, "what is written is read");
    }
    return 0;
}

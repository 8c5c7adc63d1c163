#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "connector/kafka/internal/names.h"
#include "connector/kafka/options.h"
#include "value/json.h"

using namespace sluice::connector::kafka;

/// A URL, and the same bytes as a form in JSON. What was understood keeps the rules.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    auto text = std::string_view{reinterpret_cast<const char*>(bytes), size};
    auto check = [](const Options& options) {
        if (options.brokers.empty() || !internal::is_topic_name(options.prefix)) {
            std::abort();
        }
        for (const auto& topic : options.topics) {
            if (!internal::is_topic_name(topic)) {
                std::abort();
            }
        }
    };
    if (auto options = parse_url(text)) {
        check(*options);
    }
    if (auto form = sluice::value::parse_json(text)) {
        if (auto options = parse_form(*form)) {
            check(*options);
        }
    }
    return 0;
}

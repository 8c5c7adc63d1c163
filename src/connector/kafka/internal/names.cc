#include "connector/kafka/internal/names.h"

#include <algorithm>
#include <charconv>

namespace sluice::connector::kafka::internal {

bool is_topic_name(std::string_view name) {
    constexpr auto topic_bytes_max = std::size_t{249};
    return !name.empty() && name.size() <= topic_bytes_max && name != "." && name != ".." &&
           std::ranges::all_of(name, [](char letter) {
               return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                      (letter >= '0' && letter <= '9') || letter == '.' || letter == '_' ||
                      letter == '-';
           });
}

std::string PartitionName::text() const {
    return fmt::format("{}/{}", topic, partition);
}

Result<PartitionName> parse_partition_name(std::string_view name) {
    auto slash = name.rfind('/');
    auto topic = name.substr(0, slash);
    auto number = std::int32_t{-1};
    if (slash != std::string_view::npos) {
        const auto* end = name.data() + name.size();
        auto [rest, code] = std::from_chars(name.data() + slash + 1, end, number);
        number = code == std::errc{} && rest == end ? number : -1;
    }
    if (number < 0 || !is_topic_name(topic)) {
        return fail(Errc::InvalidInput,
                    "'{}' is no partition of a topic: expected topic/number, such as orders/0",
                    name);
    }
    return PartitionName{.topic = std::string{topic}, .partition = number};
}

} // namespace sluice::connector::kafka::internal

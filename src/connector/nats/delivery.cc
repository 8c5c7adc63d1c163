#include "connector/nats/delivery.h"

#include <array>
#include <charconv>

namespace sluice::connector::nats {

namespace {

constexpr auto beginning = std::string_view{"$JS.ACK."};
constexpr auto tokens_short = std::size_t{7}; // STREAM and CONSUMER, and five numbers.
constexpr auto tokens_long = std::size_t{9};  // With domain and account, perhaps more behind.
constexpr auto tokens_max = std::size_t{10};

std::optional<std::uint64_t> number_in(std::string_view text) {
    auto number = std::uint64_t{0};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return number;
}

} // namespace

std::optional<Delivery> parse_delivery(std::string_view reply) {
    if (!reply.starts_with(beginning)) {
        return std::nullopt;
    }
    reply.remove_prefix(beginning.size());
    auto tokens = std::array<std::string_view, tokens_max>{};
    auto count = std::size_t{0};
    for (auto is_more = true; is_more && count < tokens_max; ++count) {
        auto dot = reply.find('.');
        tokens[count] = reply.substr(0, dot);
        is_more = dot != std::string_view::npos;
        reply.remove_prefix(is_more ? dot + 1 : reply.size());
    }
    if (count != tokens_short && count < tokens_long) {
        return std::nullopt;
    }
    auto attempt = count == tokens_short ? std::size_t{2} : std::size_t{4};
    auto in_stream = number_in(tokens[attempt + 1]);
    auto in_consumer = number_in(tokens[attempt + 2]);
    auto pending = number_in(tokens[attempt + 4]);
    if (!in_stream || !in_consumer || !pending || *in_stream == 0) {
        return std::nullopt;
    }
    const auto& stream = tokens[attempt - 2];
    const auto& consumer = tokens[attempt - 1];
    auto both = std::string_view{stream.data(), stream.size() + 1 + consumer.size()};
    return Delivery{both, *in_stream, *in_consumer, *pending};
}

} // namespace sluice::connector::nats

#include "store/redis/options.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

namespace sluice::store::redis {
namespace {

constexpr auto prefix_bytes_max = std::size_t{200};
constexpr auto shards_max = std::uint16_t{4096};

Result<void> set_prefix(std::string_view prefix, Options& options) {
    if (prefix.size() > prefix_bytes_max) {
        return fail(Errc::InvalidInput, "the prefix has at most {} bytes, not {}", prefix_bytes_max,
                    prefix.size());
    }
    auto is_plain = [](char byte) {
        return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
               (byte >= '0' && byte <= '9') || std::string_view{"-._~:/"}.contains(byte);
    };
    if (!std::ranges::all_of(prefix, is_plain)) {
        return fail(Errc::InvalidInput,
                    "the prefix of the keys in Redis has letters, digits and -._~:/ only");
    }
    if (!prefix.empty()) {
        options.prefix = prefix;
    }
    return {};
}

template <typename Choice, std::size_t count>
Result<Choice> choice(std::string_view what, std::string_view text,
                      const std::array<std::pair<std::string_view, Choice>, count>& choices) {
    auto names = std::string{};
    for (const auto& [name, meaning] : choices) {
        if (text == name) {
            return meaning;
        }
        names += (names.empty() ? "" : ", ") + std::string{name};
    }
    return fail(Errc::InvalidInput, "{} is one of {}, not {}", what, names, text);
}

Result<std::vector<Address>> addresses(std::string_view text) {
    auto found = std::vector<Address>{};
    for (auto part : std::views::split(text, ',')) {
        auto address = TRY(parse_address(std::string_view{part.begin(), part.end()}));
        if (address.host.empty()) {
            return fail(Errc::InvalidInput, "nodes is a list of host:port, without an empty host");
        }
        found.push_back(std::move(address));
    }
    return found;
}

Result<void> set(std::string_view name, std::string_view value, Options& options) {
    static constexpr auto durabilities =
        std::to_array<std::pair<std::string_view, Durability>>({{"strict", Durability::Strict},
                                                                {"relaxed", Durability::Relaxed},
                                                                {"memory", Durability::Memory}});
    static constexpr auto settings = std::to_array<std::pair<std::string_view, Settings>>(
        {{"checked", Settings::Checked}, {"trusted", Settings::Trusted}});
    if (name == "durability") {
        options.durability = TRY(choice(name, value, durabilities));
    } else if (name == "settings") {
        options.settings = TRY(choice(name, value, settings));
    } else if (name == "shards") {
        options.shard_count =
            static_cast<std::uint16_t>(TRY(resp::parse_whole(name, value, 1, shards_max)));
    } else if (name == "replicas") {
        options.replicas = static_cast<std::uint16_t>(TRY(resp::parse_whole(name, value, 0, 100)));
    } else if (name == "patience") {
        options.patience = TRY(resp::parse_duration(name, value));
    } else if (name == "nodes") {
        options.nodes = TRY(addresses(value));
    } else if (name == "prefix") {
        return set_prefix(value, options);
    } else {
        return fail(
            Errc::InvalidInput,
            "a store in Redis has no parameter {}: there are durability, settings, shards, "
            "replicas, patience, nodes, prefix, db, connect_limit, ca, cert, key and verify",
            name);
    }
    return {};
}

} // namespace

Result<Address> parse_address(std::string_view text) {
    auto colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return fail(Errc::InvalidInput, "{} is no node of a cluster: write host:port", text);
    }
    auto host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    }
    auto port = TRY(resp::parse_whole("a node's port", text.substr(colon + 1), 1, 0xFFFF));
    return Address{.host = std::string{host}, .port = static_cast<std::uint16_t>(port)};
}

Result<Options> parse_options(std::string_view url) {
    auto parts = TRY(resp::parse_url(url));
    auto options = Options{.server = std::move(parts.server)};
    TRY(set_prefix(parts.path, options));
    for (const auto& [name, value] : parts.query) {
        TRY(set(name, value, options));
    }
    return options;
}

} // namespace sluice::store::redis

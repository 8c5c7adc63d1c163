#include "sluice/serve/listen_address.h"

#include <charconv>

#include <fmt/format.h>

namespace sluice::app {

Result<ListenAddress> ListenAddress::parse(const std::string& text) {
    auto colon = text.rfind(':');
    auto address = ListenAddress{.host = text.substr(0, colon)};
    auto digits = colon == std::string::npos ? std::string{} : text.substr(colon + 1);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
    if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) {
        return fail(Errc::InvalidInput, "listen {}: expected ADDRESS:PORT, such as 127.0.0.1:8080",
                    text);
    }
    if (address.host.starts_with('[') && address.host.ends_with(']')) {
        address.host = address.host.substr(1, address.host.size() - 2);
    }
    return address;
}

std::string ListenAddress::url(std::string_view scheme, std::uint16_t actual_port) const {
    return host.contains(':') ? fmt::format("{}://[{}]:{}", scheme, host, actual_port)
                              : fmt::format("{}://{}:{}", scheme, host, actual_port);
}

} // namespace sluice::app

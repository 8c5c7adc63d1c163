#include "expr/states/digest.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <openssl/evp.h>

namespace sluice::expr::states {
namespace {

using Method = const EVP_MD* (*)();

constexpr auto methods = std::to_array<std::pair<std::string_view, Method>>({
    {"MD5", EVP_md5},
    {"SHA-1", EVP_sha1},
    {"SHA-256", EVP_sha256},
    {"SHA-384", EVP_sha384},
    {"SHA-512", EVP_sha512},
});

} // namespace

std::optional<std::string> hex_digest(std::string_view text, std::string_view algorithm) {
    const auto* method =
        std::ranges::find(methods, algorithm, &std::pair<std::string_view, Method>::first);
    auto bytes = std::array<unsigned char, EVP_MAX_MD_SIZE>{};
    auto size = 0U;
    if (method == methods.end() ||
        EVP_Digest(text.data(), text.size(), bytes.data(), &size, method->second(), nullptr) != 1) {
        return std::nullopt;
    }
    constexpr auto digits = std::string_view{"0123456789abcdef"};
    auto out = std::string{};
    for (auto byte : std::span{bytes}.first(size)) {
        out += digits[byte >> 4U];
        out += digits[byte & 15U];
    }
    return out;
}

} // namespace sluice::expr::states

#include "store/objects/objects.h"

#include <algorithm>
#include <array>

#include <sodium.h>

#include "store/objects/internal/hex_hash.h"

namespace sluice::store {

namespace {

constexpr auto name_bytes = std::size_t{32};

} // namespace

std::string internal::hex_hash(std::string_view bytes, std::size_t size) {
    auto hash = std::array<unsigned char, crypto_generichash_BYTES_MAX>{};
    crypto_generichash(hash.data(), size, reinterpret_cast<const unsigned char*>(bytes.data()),
                       bytes.size(), nullptr, 0);
    auto text = std::string(2 * size + 1, '\0');
    sodium_bin2hex(text.data(), text.size(), hash.data(), size);
    text.pop_back();
    return text;
}

std::string object_name_of(std::string_view bytes) {
    return internal::hex_hash(bytes, name_bytes);
}

bool is_object_name(std::string_view text) {
    return text.size() == 2 * name_bytes && std::ranges::all_of(text, [](char letter) {
               return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
           });
}

} // namespace sluice::store

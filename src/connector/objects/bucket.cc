#include "connector/objects/bucket.h"

#include <algorithm>

#include "base/utf8.h"

namespace sluice::connector::objects {

namespace {

constexpr auto key_bytes_max = std::size_t{1'024};

bool is_plain(std::string_view part) {
    return !part.empty() && part != "." && part != "..";
}

} // namespace

Result<void> check_key(std::string_view key) {
    auto has_control = std::ranges::any_of(key, [](char letter) {
        return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F;
    });
    auto is_whole = !key.empty() && key.size() <= key_bytes_max && is_utf8(key) && !has_control;
    auto rest = key;
    while (is_whole && !rest.empty()) {
        auto part = rest.substr(0, rest.find('/'));
        is_whole = is_plain(part) && part.size() + 1 != rest.size();
        rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    }
    if (!is_whole) {
        return fail(Errc::InvalidInput,
                    "the key \"{}\" is none: expected names with / between them, without . and .., "
                    "of at most {} bytes of UTF-8",
                    replace_invalid_utf8(key.substr(0, 80)), key_bytes_max);
    }
    return {};
}

} // namespace sluice::connector::objects

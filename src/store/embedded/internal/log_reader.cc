#include "store/embedded/internal/log_reader.h"

#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "store/embedded/internal/crc32c.h"

namespace sluice::store::embedded {
namespace {

constexpr auto block_bytes = std::uint64_t{32} << 10U;
constexpr auto header_bytes = std::uint64_t{7};

std::uint64_t left_in_block(std::uint64_t at) {
    return block_bytes - at % block_bytes;
}

} // namespace

std::uint64_t little_endian(std::string_view bytes) {
    auto number = std::uint64_t{0};
    for (auto at = bytes.size(); at-- > 0;) {
        number = (number << 8U) | static_cast<unsigned char>(bytes[at]);
    }
    return number;
}

std::optional<std::string_view> LogReader::next() {
    if (damage_) {
        return std::nullopt;
    }
    record_.clear();
    auto is_open = false;
    while (true) {
        skip_padding();
        auto fragment_at = at_;
        record_at_ = is_open ? record_at_ : at_;
        auto fragment = next_fragment();
        if (!fragment) {
            return is_open && !damage_ ? damaged(file_.size(), "the last record has no end")
                                       : std::nullopt;
        }
        auto begins = fragment->type == Type::Full || fragment->type == Type::First;
        if (begins == is_open) {
            return damaged(fragment_at, is_open ? "a record begins inside another"
                                                : "a record continues that did not begin");
        }
        if (fragment->type == Type::Full) {
            return fragment->bytes;
        }
        record_.append(fragment->bytes);
        if (fragment->type == Type::Last) {
            return record_;
        }
        is_open = true;
    }
}

void LogReader::skip_padding() {
    if (left_in_block(at_) < header_bytes) {
        at_ = std::min<std::uint64_t>(at_ + left_in_block(at_), file_.size());
    }
}

std::optional<LogReader::Fragment> LogReader::next_fragment() {
    auto rest = file_.substr(at_);
    if (rest.empty()) {
        return std::nullopt;
    }
    if (rest.size() < header_bytes) {
        return damaged(at_, fmt::format("{} bytes where a header of 7 was expected", rest.size()));
    }
    auto length = little_endian(rest.substr(4, 2));
    auto type = static_cast<std::uint8_t>(rest[6]);
    if (type < 1 || type > 4) {
        return damaged(at_, fmt::format("record type {}, 1 to 4 were expected", type));
    }
    if (header_bytes + length > std::min<std::uint64_t>(left_in_block(at_), rest.size())) {
        return damaged(at_, fmt::format("a record of {} bytes is cut short", length));
    }
    if (masked(crc32c(rest.substr(6, 1 + length))) != little_endian(rest.substr(0, 4))) {
        return damaged(at_, "a record does not match its checksum");
    }
    at_ += header_bytes + length;
    return Fragment{static_cast<Type>(type), rest.substr(header_bytes, length)};
}

std::nullopt_t LogReader::damaged(std::uint64_t found_at, std::string reason) {
    damage_ = LogDamage{record_at_, found_at, std::move(reason)};
    return std::nullopt;
}

bool has_record_from(std::string_view file, std::uint64_t from) {
    for (auto at = from; at + header_bytes < file.size(); ++at) {
        // Only what claims to begin a record is worth a checksum.
        auto type = file[at + 6];
        if ((type == 1 || type == 2) && LogReader{file, at}.next()) {
            return true;
        }
    }
    return false;
}

} // namespace sluice::store::embedded

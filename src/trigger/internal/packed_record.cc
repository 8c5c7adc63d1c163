#include "trigger/internal/packed_record.h"

#include <algorithm>
#include <memory>

#include <lz4.h>

#include "base/bytes.h"
#include "event/frame_unpacker.h"

namespace sluice::trigger::internal {

namespace {

constexpr auto packed_format = std::uint8_t{4};
constexpr auto texts_format = std::uint8_t{5};
constexpr auto record_bytes_min = std::size_t{1024};
// No block holds more than so many times its own size.
constexpr auto ratio_max = std::size_t{255};
// Where nothing repeats it is seen soon; where much does, hardly less is found.
constexpr auto acceleration = 8;

int size_of(std::string_view bytes) {
    return static_cast<int>(bytes.size());
}

/// Appends the text of frames that lie one behind the other.
Result<void> unpack_frames(std::string_view frames, std::size_t bytes, std::string& text) {
    auto unpacker = event::FrameUnpacker{};
    auto used = text.size();
    text.resize(used + bytes);
    while (!frames.empty()) {
        auto end = unpacker.unpack(frames, text, used, text.size());
        if (!end) {
            return fail(Errc::Corrupt, "the text of a history record is damaged: {}",
                        end.error().message);
        }
        used = *end;
    }
    if (used != text.size()) {
        return fail(Errc::Corrupt, "the text of a history record does not hold its {} bytes",
                    bytes);
    }
    return {};
}

} // namespace

std::string_view pack(std::string_view record, std::string& room) {
    if (record.size() < record_bytes_min || record.size() > LZ4_MAX_INPUT_SIZE) {
        return record;
    }
    auto head = std::string{};
    auto out = Encoder{head};
    out.u8(packed_format);
    out.varint(record.size());
    // What saves less than an eighth is not worth reading it back.
    auto bytes_max = record.size() - record.size() / 8;
    // Never smaller again: growing would fill it with zeros each time.
    room.resize(std::max(room.size(), head.size() + bytes_max));
    head.copy(room.data(), head.size());
    auto bytes = LZ4_compress_fast(record.data(), room.data() + head.size(), size_of(record),
                                   static_cast<int>(bytes_max), acceleration);
    if (bytes <= 0) {
        return record;
    }
    return std::string_view{room}.substr(0, head.size() + static_cast<std::size_t>(bytes));
}

bool is_packed(std::string_view stored) {
    return !stored.empty() && static_cast<std::uint8_t>(stored.front()) == packed_format;
}

Result<std::string> unpack(std::string_view stored) {
    auto in = Decoder{stored};
    TRY(in.format(packed_format, "packed history record"));
    auto bytes = TRY(in.varint());
    auto block = in.rest();
    if (bytes > LZ4_MAX_INPUT_SIZE || bytes > block.size() * ratio_max) {
        return fail(Errc::Corrupt, "a packed history record of {} bytes says that it holds {}",
                    stored.size(), bytes);
    }
    auto record = std::string(bytes, '\0');
    if (LZ4_decompress_safe(block.data(), record.data(), size_of(block), size_of(record)) !=
        size_of(record)) {
        return fail(Errc::Corrupt, "a packed history record does not hold its {} bytes", bytes);
    }
    return record;
}

void put_texts(const Journal::Texts& texts, std::string& stored) {
    if (texts.empty()) {
        return;
    }
    auto out = Encoder{stored};
    out.u8(texts_format);
    out.varint(texts.size());
    for (const auto& text : texts) {
        out.varint(text->size);
        out.varint(text->packed_bytes());
        for (auto frame : text->frames) {
            stored += frame;
        }
    }
}

Result<std::string> take_texts(std::string_view& stored) {
    auto text = std::string{};
    if (stored.empty() || static_cast<std::uint8_t>(stored.front()) != texts_format) {
        return text;
    }
    auto in = Decoder{stored.substr(1)};
    for (auto left = TRY(in.varint()); left > 0; --left) {
        auto bytes = TRY(in.varint());
        auto frames = TRY(in.text());
        if (bytes > frames.size() * event::PackedText::ratio_max) {
            return fail(Errc::Corrupt, "a text of {} bytes says that it holds {}", frames.size(),
                        bytes);
        }
        TRY(unpack_frames(frames, bytes, text));
    }
    stored = in.rest();
    return text;
}

} // namespace sluice::trigger::internal

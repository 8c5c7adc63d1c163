#include "connector/nats/internal/wire/operation_buffer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

namespace sluice::connector::nats::internal::wire {

namespace {

// What is usual is received into the same place again and again.
constexpr auto usual_capacity = std::size_t{256} * 1024;
constexpr auto room_min = std::size_t{64} * 1024;
constexpr auto line_end = std::string_view{"\r\n"};
// Of a line that is not understood this much is shown.
constexpr auto shown_bytes_max = std::size_t{80};
constexpr auto blanks = std::string_view{" \t"};

/// Subject, subscription, perhaps where to answer, perhaps the header's size, size.
constexpr auto words_max = std::size_t{5};

struct Words {
    std::array<std::string_view, words_max> all{};
    std::size_t count = 0; ///< One more than there is room for: too many.
};

Words split(std::string_view text) {
    auto words = Words{};
    while (true) {
        auto begin = text.find_first_not_of(blanks);
        if (begin == std::string_view::npos || words.count > words_max) {
            return words;
        }
        text.remove_prefix(begin);
        auto end = std::min(text.find_first_of(blanks), text.size());
        if (words.count < words_max) {
            words.all[words.count] = text.substr(0, end);
        }
        ++words.count;
        text.remove_prefix(end);
    }
}

std::optional<std::uint64_t> number_of(std::string_view text) {
    auto number = std::uint64_t{0};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    auto is_number = error == std::errc{} && end == text.data() + text.size();
    return is_number ? std::optional{number} : std::nullopt;
}

std::unexpected<Error> misread(std::string_view line, std::string_view expected) {
    return fail(Errc::Corrupt, "expected {}, found '{}'", expected,
                line.substr(0, shown_bytes_max));
}

/// What stands behind the verb.
std::string_view rest_of(std::string_view line, std::size_t verb_bytes) {
    line.remove_prefix(verb_bytes);
    auto begin = std::min(line.find_first_not_of(blanks), line.size());
    auto end = line.find_last_not_of(blanks);
    return begin == line.size() ? std::string_view{} : line.substr(begin, end + 1 - begin);
}

std::string_view unquoted(std::string_view text) {
    auto is_quoted = text.size() >= 2 && text.starts_with('\'') && text.ends_with('\'');
    return is_quoted ? text.substr(1, text.size() - 2) : text;
}

Result<Operation> read_line(std::string_view line) {
    auto verb = line.substr(0, std::min(line.find_first_of(blanks), line.size()));
    if (verb == "PING") {
        return Operation{.verb = Verb::Ping};
    }
    if (verb == "PONG") {
        return Operation{.verb = Verb::Pong};
    }
    if (verb == "+OK") {
        return Operation{.verb = Verb::Ok};
    }
    if (verb == "INFO") {
        return Operation{.verb = Verb::Info, .text = rest_of(line, verb.size())};
    }
    if (verb == "-ERR") {
        return Operation{.verb = Verb::Error, .text = unquoted(rest_of(line, verb.size()))};
    }
    return misread(line, "an operation of NATS");
}

/// How large the parts of a message are.
struct Sizes {
    std::uint64_t header = 0;
    std::uint64_t whole = 0;
};

Result<Sizes> read_sizes(std::string_view line, const Words& words, bool has_header) {
    auto whole = number_of(words.all[words.count - 1]);
    auto header = has_header ? number_of(words.all[words.count - 2]) : std::optional{0UL};
    if (!whole || !header || *header > *whole) {
        return misread(line, "the sizes of a message");
    }
    if (*whole > OperationBuffer::message_bytes_max) {
        return fail(Errc::Corrupt, "a message of {} bytes, expected at most {}", *whole,
                    OperationBuffer::message_bytes_max);
    }
    return Sizes{.header = *header, .whole = *whole};
}

} // namespace

void OperationBuffer::move_to(std::size_t capacity) {
    auto size = end_ - begin_;
    if (capacity == capacity_) {
        std::memmove(bytes_.get(), bytes_.get() + begin_, size);
    } else {
        auto bytes = std::make_unique_for_overwrite<char[]>(capacity);
        if (size > 0) {
            std::memcpy(bytes.get(), bytes_.get() + begin_, size);
        }
        bytes_ = std::move(bytes);
        capacity_ = capacity;
    }
    begin_ = 0;
    end_ = size;
}

std::span<char> OperationBuffer::room() {
    auto size = end_ - begin_;
    auto needed = std::bit_ceil(std::max(std::max(wanted_, size + room_min), usual_capacity));
    auto is_far_too_large = needed <= capacity_ / 8;
    if (needed > capacity_ || is_far_too_large) {
        move_to(needed);
    } else if (size == 0) {
        begin_ = 0;
        end_ = 0;
    } else if (capacity_ - end_ < room_min || begin_ + wanted_ > capacity_) {
        move_to(capacity_);
    }
    return {bytes_.get() + end_, capacity_ - end_};
}

Result<std::optional<Operation>> OperationBuffer::next() {
    auto bytes = unread();
    auto end = bytes.find('\n');
    if (std::min(end, bytes.size()) > line_bytes_max) {
        return fail(Errc::Corrupt, "a line of more than {} bytes", line_bytes_max);
    }
    if (end == std::string_view::npos) {
        wanted_ = bytes.size() + 1;
        return std::nullopt;
    }
    auto line = bytes.substr(0, end + 1);
    if (!line.ends_with(line_end)) {
        return misread(line, "a line that ends with CR LF");
    }
    line.remove_suffix(line_end.size());
    auto has_header = line.starts_with("HMSG") && line.size() > 4 && blanks.contains(line[4]);
    auto is_plain = line.starts_with("MSG") && line.size() > 3 && blanks.contains(line[3]);
    if (has_header || is_plain) {
        return next_message(line, has_header);
    }
    auto operation = TRY(read_line(line));
    begin_ += end + 1;
    wanted_ = 0;
    return operation;
}

Result<std::optional<Operation>> OperationBuffer::next_message(std::string_view line,
                                                               bool has_header) {
    auto words = split(line.substr(has_header ? 5 : 4));
    auto words_least = has_header ? std::size_t{4} : std::size_t{3};
    auto subscription = number_of(words.all[1]);
    if (words.count < words_least || words.count > words_least + 1 || !subscription) {
        return misread(line, "a message's subject, subscription and sizes");
    }
    auto sizes = TRY(read_sizes(line, words, has_header));
    auto begin = line.size() + line_end.size();
    auto bytes = unread();
    wanted_ = begin + sizes.whole + line_end.size();
    if (bytes.size() < wanted_) {
        return std::nullopt;
    }
    if (bytes.substr(begin + sizes.whole, line_end.size()) != line_end) {
        return misread(line, "CR LF behind a message");
    }
    begin_ += wanted_;
    wanted_ = 0;
    auto reply = words.count > words_least ? words.all[2] : std::string_view{};
    return Operation{.verb = Verb::Message,
                     .subject = words.all[0],
                     .subscription = *subscription,
                     .reply = reply,
                     .header = bytes.substr(begin, sizes.header),
                     .body = bytes.substr(begin + sizes.header, sizes.whole - sizes.header)};
}

} // namespace sluice::connector::nats::internal::wire

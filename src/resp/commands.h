#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::resp {

/// Commands on their way to a server, one behind the other in one buffer. Reused: `clear` keeps its
/// memory.
class Commands {
public:
    /// `commands.add("SET", key, value)`; numbers are written in decimal.
    template <typename... Arguments>
    void add(const Arguments&... arguments) {
        begin(sizeof...(arguments));
        (argument(arguments), ...);
    }

    /// A command of so many arguments, its name among them; each is then given by `argument`.
    void begin(std::size_t arguments) {
        number_line('*', arguments);
        ++count_;
    }
    void argument(std::string_view bytes) {
        number_line('$', bytes.size());
        text_.append(bytes);
        text_.append("\r\n");
    }
    template <std::integral Number>
    void argument(Number number) {
        char digits[20];
        auto end = std::to_chars(digits, digits + sizeof(digits), number).ptr;
        argument(std::string_view{digits, end});
    }

    std::string_view text() const { return text_; }
    std::size_t count() const { return count_; }
    void clear() {
        text_.clear();
        count_ = 0;
    }

private:
    void number_line(char kind, std::size_t number) {
        char line[24];
        line[0] = kind;
        auto* end = std::to_chars(line + 1, line + sizeof(line), number).ptr;
        *end++ = '\r';
        *end++ = '\n';
        text_.append(line, static_cast<std::size_t>(end - line));
    }

    std::string text_;
    std::size_t count_ = 0;
};

} // namespace sluice::resp

#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace sluice::resp {

enum class Kind : std::uint8_t {
    Null,
    Text,   ///< Simple, bulk and verbatim strings.
    Error,  ///< What the server refused, in its words.
    Number, ///< 64 bits.
    Double, ///< Its text.
    Big,    ///< A number of any size: its text.
    Bool,
    List, ///< Arrays and sets.
    Map,  ///< Its items are key, value, key, value, …
    Push, ///< What nobody asked for.
};

std::string_view to_string(Kind kind);

/// One element of a reply, in the order in which it came; what it contains follows it.
struct Node {
    Kind kind = Kind::Null;
    std::uint32_t end = 0;   ///< The node behind it and all that it contains.
    std::size_t begin = 0;   ///< Where its text lies; or how many items it has.
    std::int64_t number = 0; ///< The size of its text; or its number.
};

/// What a server said: a view into what was received.
class Reply {
public:
    Reply(const Node* nodes, const char* bytes, std::uint32_t at)
        : nodes_(nodes), bytes_(bytes), at_(at) {}

    Kind kind() const { return node().kind; }
    bool is_null() const { return kind() == Kind::Null; }
    bool is_error() const { return kind() == Kind::Error; }
    /// It has items.
    bool is_list() const { return kind() >= Kind::List; }

    /// Of texts, errors, doubles and big numbers; empty for the others.
    std::string_view text() const {
        auto is_text = kind() >= Kind::Text && kind() <= Kind::Big && kind() != Kind::Number;
        return is_text ? std::string_view{bytes_ + node().begin,
                                          static_cast<std::size_t>(node().number)}
                       : std::string_view{};
    }
    /// Of numbers, and 0 or 1 of bools; 0 for the others.
    std::int64_t number() const {
        return kind() == Kind::Number || kind() == Kind::Bool ? node().number : 0;
    }
    /// The items of a list; twice the members of a map.
    std::size_t size() const { return is_list() ? node().begin : 0; }

    class Iterator;
    Iterator begin() const;
    Iterator end() const;
    /// Takes as long as there are items before it. A null when there is none.
    Reply item(std::size_t index) const;

private:
    const Node& node() const { return nodes_[at_]; }

    const Node* nodes_;
    const char* bytes_;
    std::uint32_t at_;
};

class Reply::Iterator {
public:
    explicit Iterator(Reply at) : reply_(at) {}
    const Reply& operator*() const { return reply_; }
    const Reply* operator->() const { return &reply_; }
    Iterator& operator++() {
        reply_.at_ = reply_.node().end;
        return *this;
    }
    bool operator==(const Iterator& other) const { return reply_.at_ == other.reply_.at_; }

private:
    Reply reply_;
};

inline Reply::Iterator Reply::begin() const {
    return Iterator{Reply{nodes_, bytes_, at_ + 1}};
}
inline Reply::Iterator Reply::end() const {
    return Iterator{Reply{nodes_, bytes_, node().end}};
}

/// Calls with the items two by two: the members of a map, or of a list that stands for one. An item
/// without a second is left out.
template <typename Each>
void for_each_pair(const Reply& reply, Each each) {
    for (auto at = reply.begin(); at != reply.end(); ++at) {
        auto first = *at;
        if (++at == reply.end()) {
            return;
        }
        each(first, *at);
    }
}

/// What an error reply means to us: Unavailable when it passes by itself, NoSpace when nothing is
/// written there now, InvalidInput when the name or password is wrong, Unsupported for commands
/// that the server does not have or allow.
Error error_of(const Reply& reply);
/// The reply itself, or its error.
Result<Reply> checked(Reply reply);
/// The word that an error begins with, such as `NOSCRIPT`.
std::string_view error_word(std::string_view message);

} // namespace sluice::resp

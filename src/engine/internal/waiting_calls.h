#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "engine/outbox.h"

namespace sluice::engine {

/// Calls of one function that wait for their turn.
///
/// Higher priorities go first; of the same priority, namespaces take turns; within a namespace the
/// oldest goes first, save those whose key or pool has no room.
class WaitingCalls {
public:
    using Ticket = std::uint64_t;
    /// Namespace, and key in it.
    using Key = std::pair<std::string, std::string>;

    void add(Ticket ticket, std::int32_t priority, std::string key, Call call);
    bool is_empty() const { return calls_.empty(); }
    std::size_t size() const { return calls_.size(); }

    struct Turn {
        const Key& key;
        const Call& call;
        Ticket ticket = 0;
        std::int32_t priority = 0;
    };
    /// The call whose turn it is; nothing when there is none that could go.
    std::optional<Turn> next() const;
    /// The call that `next` meant.
    Call take();
    /// Passes over the call that `next` meant, and those behind it that want the same of its pool,
    /// until it is unblocked or removed.
    void block();
    void unblock(Ticket ticket);
    /// Passes over calls with this key until it is let go.
    void hold(const Key& key);
    void let_go(const Key& key);
    bool is_held(const Key& key) const { return held_.contains(key); }
    Call remove(Ticket ticket);
    const Call& at(Ticket ticket) const { return calls_.at(ticket).call; }

private:
    struct Line {
        std::int32_t priority = 0;
        Key key;
        std::string pool; ///< Empty: none.
        std::set<Ticket> tickets;
        bool is_blocked = false;
    };
    struct Entry {
        Call call;
        Line* line = nullptr;
    };
    using LineName = std::tuple<Key, std::string, std::int32_t>;
    /// Lines that may go by the ticket of their first call.
    using Turns = std::map<Ticket, Line*>;

    Line* next_line() const;
    void enter(Line& line);
    void leave(Line& line);
    template <typename Change>
    void change_lines(const Key& key, Change change);

    std::map<Ticket, Entry> calls_;
    std::map<LineName, Line> lines_;
    std::set<Key> held_;
    /// By priority, then by namespace.
    std::map<std::int32_t, std::map<std::string, Turns>, std::greater<>> levels_;
    std::string last_; ///< The namespace that had its turn.
};

} // namespace sluice::engine

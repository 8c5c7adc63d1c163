#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "resp/backoff.h"
#include "store/redis/internal/connection.h"
#include "store/redis/internal/slots.h"
#include "store/redis/options.h"

namespace sluice::store::redis::internal {

/// Tries again until it is answered or the patience is at its end.
class Attempts {
public:
    explicit Attempts(Nanos patience);
    /// Waits a while, longer each time; false when no time is left.
    bool wait();

private:
    Nanos until_;
    resp::Backoff backoff_;
};

/// What is asked of whoever has a key, in two halves, so that several can be under way at once.
struct Call {
    std::string key;
    std::function<void(Connection&)> write; ///< Adds commands; all of them are about this key.
    /// Receives the replies. `was_sent`: an earlier attempt may have been done as well.
    std::function<Result<void>(Connection&, bool was_sent)> read;
    unsigned times_sent = 0;
    bool is_done = false;
};

/// Connections that nobody uses just now, as many as threads ask at once: to one server, or to the
/// nodes of a cluster, each of which is asked for the keys that it has.
class Pool {
public:
    explicit Pool(Options options) : options_(std::move(options)) {}

    const Options& options() const { return options_; }
    /// Before others use it.
    void set_patience(Nanos patience) { options_.patience = patience; }
    /// Known once something was answered.
    bool is_cluster() const { return kind_ == Kind::Cluster; }

    /// Asks whoever has the key until it is answered: for what may be asked twice. `ask` takes a
    /// Connection& and gives a Result; Unavailable means that the connection is given up and it is
    /// asked anew. Only its first command may be about a key, as for a slot on its way.
    template <typename Ask>
    auto ask(std::string_view key, Ask ask) -> decltype(ask(std::declval<Connection&>())) {
        auto attempts = Attempts{options_.patience};
        for (;;) {
            auto answer = once(key, ask);
            if (answer || !is_passing(answer.error()) || !attempts.wait()) {
                return answer;
            }
        }
    }
    /// Asks once.
    template <typename Ask>
    auto once(std::string_view key, Ask& ask) -> decltype(ask(std::declval<Connection&>())) {
        auto place = place_of(key);
        if (!place) {
            return std::unexpected(std::move(place).error());
        }
        auto answer = once_at(*place, Asking::No, ask);
        if (!answer) {
            if (auto other = follow(answer.error(), *place)) {
                return once_at(*other, Asking::Yes, ask);
            }
        }
        return answer;
    }
    /// Asks all, and those that were not answered anew. All are sent before the first answer is
    /// waited for. Where one fails for good the others may have been done; NoSpace says that none
    /// was.
    Result<void> ask_all(std::span<Call> calls);
    /// Asks every node that has one of the keys; `each` takes a Connection& and one of them.
    template <typename Each>
    Result<void> ask_each(std::span<const std::string> keys, Each each) {
        auto chosen = TRY(one_per_node(keys, options_.patience));
        for (const auto& key : chosen) {
            TRY(ask(key, [&](Connection& connection) { return each(connection, key); }));
        }
        return {};
    }
    /// The first key of each node.
    Result<std::vector<std::string>> one_per_node(std::span<const std::string> keys,
                                                  Nanos patience);

    /// Another connection or a little time may help.
    static bool is_passing(const Error& error);

private:
    friend class Round;
    enum class Kind : std::uint8_t { Unknown, Server, Cluster };
    /// What is asked of a node for a slot that is on its way to it has to be announced.
    enum class Asking : std::uint8_t { No, Yes };

    template <typename Ask>
    auto once_at(const Address& place, Asking asking, Ask& ask)
        -> decltype(ask(std::declval<Connection&>())) {
        auto borrowed = borrow(place);
        if (!borrowed) {
            return std::unexpected(std::move(borrowed).error());
        }
        auto& connection = **borrowed;
        if (asking == Asking::Yes) {
            if (auto allowed = connection.client().call("ASKING"); !allowed) {
                return std::unexpected(std::move(allowed).error());
            }
        }
        auto answer = ask(connection);
        give_back(place, std::move(*borrowed), answer ? nullptr : &answer.error());
        return answer;
    }

    /// No host and no port: the server of the options, whatever it is.
    Result<Address> place_of(std::string_view key);
    /// Finds out what the server is, and what the cluster looks like once that has changed.
    Result<void> look();
    Result<void> look_at(const Address& place, Nanos limit);
    std::vector<Address> known_places();
    /// Learns from an error; gives who is to be asked this once.
    std::optional<Address> follow(const Error& error, const Address& from);
    Options options_at(const Address& place) const;

    Result<std::unique_ptr<Connection>> borrow(const Address& place);
    /// `error` is what was answered, if it was one.
    void give_back(const Address& place, std::unique_ptr<Connection> connection,
                   const Error* error);

    Options options_;
    std::atomic<Kind> kind_{Kind::Unknown};
    std::mutex mutex_;
    std::map<Address, std::vector<std::unique_ptr<Connection>>> idle_;
    SlotMap map_;
    bool is_map_old_ = false;
    std::size_t looks_ = 0; ///< Each begins with another node.
};

} // namespace sluice::store::redis::internal

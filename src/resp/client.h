#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "resp/commands.h"
#include "resp/options.h"
#include "resp/parser.h"
#include "resp/reply.h"

namespace sluice::resp {

/// A connection to a Redis server, for one thread at a time. Every call has a time limit.
///
/// Commands are gathered in `commands()`, sent together, and answered in order. Once the connection
/// fails it stays failed: make another.
class Client {
public:
    /// Connected, let in, and on its database; by RESP3 where the server speaks it. Unavailable
    /// when it cannot be reached just now, InvalidInput when it does not let us in.
    static Result<Client> connect(const Options& options);
    ~Client();
    Client(Client&&) noexcept;
    Client& operator=(Client&&) noexcept;

    /// One command and its reply; an error reply is an error here.
    template <typename... Arguments>
    Result<Reply> call(const Arguments&... arguments) {
        commands().add(arguments...);
        TRY(send());
        return checked(TRY(receive()));
    }

    /// What the next `send` sends.
    Commands& commands();
    Result<void> send();
    /// The reply to the first command that has none yet, errors of the server included. It is good
    /// until the next call.
    Result<Reply> receive();
    /// The same with a time limit of its own, for commands that block.
    Result<Reply> receive(Nanos limit);

    /// Replies that have not been received.
    std::size_t owed() const;
    /// Otherwise only a new client helps.
    bool is_open() const;

private:
    struct State;
    explicit Client(std::unique_ptr<State> state);

    Result<void> introduce(const Options& options);
    Result<void> log_in_the_old_way(const Options& options);

    std::unique_ptr<State> state_;
};

} // namespace sluice::resp

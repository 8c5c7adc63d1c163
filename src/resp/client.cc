#include "resp/client.h"

#include <utility>

#include "reactor/byte_stream.h"
#include "resp/internal/receive_buffer.h"

namespace sluice::resp {

using reactor::after;
using reactor::ByteStream;
using reactor::Deadline;

namespace {

constexpr auto read_bytes = std::size_t{64} * 1024;

ByteStream::Place place_of(const Options& options) {
    return {.host = options.host,
            .port = options.port,
            .socket_path = options.socket_path,
            .tls = options.tls};
}

} // namespace

struct Client::State {
    State(Options chosen, ByteStream connected)
        : options(std::move(chosen)), stream(std::move(connected)), parser(options.limits) {}

    Result<void> send(Deadline deadline) {
        auto rest = commands.text();
        owed += commands.count();
        while (!rest.empty()) {
            auto written = TRY(stream.write_some(rest));
            rest.remove_prefix(written);
            if (written == 0) {
                TRY(stream.wait(ByteStream::For::Both, deadline));
                // A server that waits for its answers to be read reads no more commands.
                std::ignore = TRY(fill(read_bytes));
            }
        }
        commands.clear();
        return {};
    }

    Result<Reply> receive(Deadline deadline) {
        buffer.consume(std::exchange(used, 0));
        parser.reset();
        while (!TRY(parser.feed(buffer.unread()))) {
            auto missing = parser.needed() - buffer.unread().size();
            if (TRY(fill(std::max(missing, read_bytes))) == 0) {
                TRY(stream.wait(ByteStream::For::Reading, deadline));
            }
        }
        used = parser.consumed();
        return parser.reply(buffer.unread());
    }

    Result<std::size_t> fill(std::size_t size) {
        auto read = TRY(stream.read_some(buffer.room(size)));
        buffer.add(read);
        return read;
    }

    /// Once something failed, nobody knows which reply would be next.
    template <typename T>
    Result<T> noted(Result<T> result) {
        if (!result) {
            is_open = false;
            result.error().message =
                fmt::format("Redis at {}: {}", options.address(), result.error().message);
        }
        return result;
    }

    Options options;
    ByteStream stream;
    Parser parser;
    internal::ReceiveBuffer buffer;
    Commands commands;
    std::size_t used = 0; ///< Bytes of the reply that was given last.
    std::size_t owed = 0;
    bool is_open = true;
};

Client::Client(std::unique_ptr<State> state) : state_(std::move(state)) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Result<Client> Client::connect(const Options& options) {
    auto deadline = after(options.connect_limit);
    auto stream = ByteStream::connect(place_of(options), deadline);
    if (!stream) {
        return fail(stream.error().code, "Redis at {}: {}", options.address(),
                    stream.error().message);
    }
    auto client = Client{std::make_unique<State>(options, std::move(*stream))};
    client.state_->options.call_limit = options.connect_limit;
    TRY(client.introduce(options));
    client.state_->options.call_limit = options.call_limit;
    return client;
}

Result<void> Client::introduce(const Options& options) {
    auto has_login = !options.password.empty();
    commands().begin(has_login ? 7 : 4);
    commands().argument(std::string_view{"HELLO"});
    commands().argument(3);
    if (has_login) {
        commands().argument(std::string_view{"AUTH"});
        commands().argument(options.user.empty() ? std::string_view{"default"} : options.user);
        commands().argument(options.password);
    }
    commands().argument(std::string_view{"SETNAME"});
    commands().argument(options.client_name);
    TRY(send());
    auto greeting = TRY(receive());
    if (greeting.is_error()) {
        auto error = error_of(greeting);
        if (error.code != Errc::Unsupported && !error.message.starts_with("NOPROTO")) {
            return fail(error.code, "Redis at {}: {}", options.address(), error.message);
        }
        TRY(log_in_the_old_way(options));
    }
    if (options.database != 0) {
        std::ignore = TRY(call("SELECT", options.database));
    }
    return {};
}

Result<void> Client::log_in_the_old_way(const Options& options) {
    if (options.password.empty()) {
        return {};
    }
    if (options.user.empty()) {
        std::ignore = TRY(call("AUTH", options.password));
    } else {
        std::ignore = TRY(call("AUTH", options.user, options.password));
    }
    return {};
}

Commands& Client::commands() {
    return state_->commands;
}

Result<void> Client::send() {
    if (!state_->is_open) {
        return fail(Errc::Unavailable, "Redis at {}: the connection has failed before",
                    state_->options.address());
    }
    return state_->noted(state_->send(after(state_->options.call_limit)));
}

Result<Reply> Client::receive() {
    return receive(state_->options.call_limit);
}

Result<Reply> Client::receive(Nanos limit) {
    if (!state_->is_open || state_->owed == 0) {
        return fail(Errc::Unavailable, "Redis at {}: no reply is to be expected",
                    state_->options.address());
    }
    for (;;) {
        auto reply = TRY(state_->noted(state_->receive(after(limit))));
        if (reply.kind() != Kind::Push) {
            --state_->owed;
            return reply;
        }
    }
}

std::size_t Client::owed() const {
    return state_->owed;
}

bool Client::is_open() const {
    return state_->is_open;
}

} // namespace sluice::resp

#include "connector/nats/internal/direct_link.h"

#include <algorithm>
#include <array>
#include <utility>

#include "connector/nats/internal/steady.h"

namespace sluice::connector::nats::internal {

namespace {

constexpr auto connection_name = std::string_view{"sluice source, reading"};
// More acknowledgements than this are not gathered before they are sent.
constexpr auto unsent_bytes_max = std::size_t{64} << 10U;
constexpr auto url_bytes_max = std::size_t{1024};

} // namespace

bool DirectLink::is_possible(const Options& options) {
    return options.reading == Reading::Direct && wire::Connection::can_log_in(options.login);
}

DirectLink::DirectLink(const Session& session, const Options& options)
    : session_(session),
      options_(options),
      random_(static_cast<std::uint64_t>(steady_now().count())) {}

/// `host:port` of the session's server, or of those we know, in turn.
std::string DirectLink::server() const {
    auto choice = attempts_ % (options_.servers.size() + 1);
    if (choice > 0) {
        return options_.servers[choice - 1];
    }
    auto url = std::array<char, url_bytes_max>{};
    auto status = natsConnection_GetConnectedUrl(session_.connection(), url.data(), url.size());
    auto text = std::string_view{url.data()};
    if (status != NATS_OK || text.empty()) {
        return options_.servers.front();
    }
    auto scheme = text.find("://");
    text.remove_prefix(scheme == std::string_view::npos ? 0 : scheme + 3);
    auto at = text.rfind('@');
    text.remove_prefix(at == std::string_view::npos ? 0 : at + 1);
    return std::string{text.substr(0, text.find('/'))};
}

Result<bool> DirectLink::keep(Nanos now) {
    if (!connection_ && (now < connect_at_ || !session_.is_connected())) {
        return false;
    }
    auto done = connection_ ? Result<void>{} : connect();
    if (done && prefix_.empty()) {
        done = open_inbox();
    }
    if (!done) {
        lose(done.error());
    }
    return done.has_value();
}

Result<void> DirectLink::connect() {
    auto to = server();
    auto opened = wire::Connection::open(options_, to, connection_name);
    if (!opened) {
        return fail(Errc::Unavailable, "no connection to {}: {}", to, opened.error().message);
    }
    connection_ = std::move(*opened);
    prefix_.clear();
    attempts_ = 0;
    trouble_.clear();
    return {};
}

Result<void> DirectLink::open_inbox() {
    auto* name = static_cast<char*>(nullptr);
    auto status = natsInbox_Create(&name);
    if (status != NATS_OK) {
        return std::unexpected(error_of(status, "naming an inbox"));
    }
    prefix_ = std::string{name} + ".";
    natsInbox_Destroy(name);
    connection_->writer().subscribe(prefix_ + ">", ++subscription_);
    return connection_->send();
}

void DirectLink::lose(const Error& why) {
    connection_.reset();
    prefix_.clear();
    trouble_ = why.message.starts_with("no connection")
                   ? why.message
                   : fmt::format("no connection to {}: {}", fmt::join(options_.servers, ", "),
                                 why.message);
    connect_at_ = steady_now() + backoff(attempts_++, random_);
}

const Answer* DirectLink::next() {
    while (connection_) {
        auto operation = connection_->next();
        if (!operation) {
            lose(operation.error());
            return nullptr;
        }
        if (!*operation) {
            return nullptr;
        }
        if (const auto* answer = take(**operation); answer != nullptr) {
            return answer;
        }
    }
    return nullptr;
}

const Answer* DirectLink::take(const wire::Operation& operation) {
    if (operation.verb == wire::Verb::Error) {
        trouble_ = fmt::format("the server says: {}", operation.text);
        return nullptr;
    }
    if (operation.subscription != subscription_ || prefix_.empty()) {
        return nullptr;
    }
    if (!trouble_.empty()) {
        trouble_.clear();
    }
    wire::read_header(operation.header, header_);
    answer_.subject = operation.subject;
    answer_.reply = operation.reply;
    answer_.body = operation.body;
    answer_.status = header_.status;
    answer_.description = header_.description;
    std::swap(answer_.fields, header_.fields);
    return &answer_;
}

void DirectLink::wait(Nanos limit) {
    if (connection_) {
        connection_->wait(limit);
    } else {
        nats_Sleep(std::max<std::int64_t>(1, limit / std::chrono::milliseconds{1}));
    }
}

void DirectLink::publish(const std::string& subject, const std::string& reply,
                         std::string_view body) {
    if (!connection_) {
        // Requests are made anew; an acknowledgement goes by whatever way there is.
        if (reply.empty()) {
            natsConnection_Publish(session_.connection(), subject.c_str(), body.data(),
                                   static_cast<int>(body.size()));
        }
        return;
    }
    connection_->writer().publish(subject, reply, body);
    if (connection_->unsent_bytes() > unsent_bytes_max) {
        send();
    }
}

void DirectLink::send() {
    if (!connection_) {
        return;
    }
    if (auto done = connection_->send(); !done) {
        lose(done.error());
    }
}

void DirectLink::close_inbox() {
    if (has_inbox()) {
        connection_->writer().unsubscribe(subscription_);
        prefix_.clear();
        send();
    }
}

void DirectLink::finish(Nanos limit) {
    close_inbox();
    // What was not taken would otherwise make the system drop what was just sent.
    if (auto done = connection_ ? connection_->finish(limit) : Result<void>{}; !done) {
        lose(done.error());
    }
}

} // namespace sluice::connector::nats::internal

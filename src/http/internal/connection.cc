#include "http/internal/connection.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <sys/socket.h>

#include "http/internal/pending_answer.h"
#include "http/internal/response_text.h"

namespace sluice::http::internal {

namespace {

namespace beast = boost::beast;
using boost::system::error_code;
using Parser = beast::http::request_parser<beast::http::string_body>;
using TlsStream = asio::ssl::stream<Socket>;

constexpr auto read_bytes = std::size_t{4} << 10U;
/// Whoever parses a body may read this far behind its end.
constexpr auto body_padding = std::size_t{64};
/// Space for a body before any of it has come: a length alone is no reason for more.
constexpr auto body_bytes_first = std::size_t{16} << 10U;
/// Smaller bodies are not counted: there are at most as many as connections.
constexpr auto body_bytes_uncounted = std::size_t{64} << 10U;
/// What is still read from someone who was refused, so that the answer is not lost to a reset.
constexpr auto drained_bytes_max = std::size_t{16} << 20U;
constexpr auto drain_time_max = std::chrono::seconds{2};

Method method_of(beast::http::verb verb) {
    switch (verb) {
        case beast::http::verb::get: return Method::Get;
        case beast::http::verb::head: return Method::Head;
        case beast::http::verb::post: return Method::Post;
        case beast::http::verb::put: return Method::Put;
        case beast::http::verb::patch: return Method::Patch;
        case beast::http::verb::delete_: return Method::Delete;
        case beast::http::verb::options: return Method::Options;
        default: return Method::Other;
    }
}

/// What a request that cannot be read is answered with; 0: nothing, the other side has gone.
int refusal_status(error_code error) {
    using Fault = beast::http::error;
    if (error == boost::system::errc::not_enough_memory) {
        return 503;
    }
    if (error == Fault::header_limit) {
        return 431;
    }
    if (error == Fault::body_limit || error == Fault::buffer_overflow) {
        return 413;
    }
    if (error == Fault::end_of_stream || error == Fault::partial_message ||
        error.category() != beast::http::make_error_code(Fault::bad_method).category()) {
        return 0;
    }
    return error == Fault::bad_version ? 505 : 400;
}

template <typename Transport>
class ConnectionOf final : public Connection,
                           public Peer,
                           public std::enable_shared_from_this<ConnectionOf<Transport>> {
public:
    template <typename... Args>
    ConnectionOf(ConnectionWorld& world, std::shared_ptr<Gate> gate,
                 std::shared_ptr<asio::ssl::context> tls, Args&&... args)
        : world_(world),
          gate_(std::move(gate)),
          tls_(std::move(tls)),
          transport_(std::forward<Args>(args)...) {
        auto ignored = error_code{};
        socket().set_option(asio::ip::tcp::no_delay{true}, ignored);
        auto peer = socket().remote_endpoint(ignored);
        peer_ = peer.address().to_string(ignored);
        world_.connections.fetch_add(1);
    }
    ~ConnectionOf() override {
        world_.connections.fetch_sub(1);
        release_space();
    }
    ConnectionOf(const ConnectionOf&) = delete;
    ConnectionOf& operator=(const ConnectionOf&) = delete;

    Task<> run() override {
        auto self = this->shared_from_this();
        buffer_.reserve(read_bytes);
        if (co_await shake_hands()) {
            while (co_await serve_one()) {
            }
        }
        co_await part();
    }

    void close() override {
        auto ignored = error_code{};
        socket().close(ignored);
    }

    void abandon() override {
        close();
        if (auto pending = std::exchange(pending_, nullptr)) {
            pending->abandon();
        }
    }

    void when_gone(std::function<void()> call) override {
        auto look = [self = this->shared_from_this(), pending = pending_,
                     call = std::move(call)](error_code error) {
            auto byte = char{};
            if (!error && pending->peer != nullptr &&
                ::recv(self->socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0) {
                call();
            }
        };
        socket().async_wait(Socket::wait_read, std::move(look));
    }

private:
    Socket& socket() {
        if constexpr (std::is_same_v<Transport, TlsStream>) {
            return transport_.next_layer();
        } else {
            return transport_;
        }
    }

    void allow(Nanos time) { deadline_ = std::chrono::steady_clock::now() + time; }

    Task<bool> shake_hands() {
        auto error = error_code{};
        if constexpr (std::is_same_v<Transport, TlsStream>) {
            allow(world_.limits.header_time_max);
            co_await transport_.async_handshake(asio::ssl::stream_base::server,
                                                asio::redirect_error(use_task, error));
        }
        co_return !error;
    }

    /// One request and its answer; whether there may be another.
    Task<bool> serve_one() {
        is_idle_ = buffer_.size() == 0;
        if (is_idle_ && !co_await await_bytes()) {
            co_return false;
        }
        is_idle_ = false;
        auto parser = Parser{};
        parser.header_limit(static_cast<std::uint32_t>(world_.limits.header_bytes_max));
        parser.body_limit(world_.limits.body_bytes_max);
        auto request = Request{};
        if (auto error = co_await read(parser, request)) {
            request.body = std::string{}; // Whoever is told comes again at once.
            release_space();
            co_await refuse(error);
            co_return false;
        }
        deadline_.reset();
        auto is_head = request.method == Method::Head;
        is_kept_alive_ = parser.get().keep_alive();
        auto pending = std::make_shared<PendingAnswer>(gate_, world_.limits.stream_bytes_max);
        pending_ = pending;
        auto began = std::chrono::steady_clock::now();
        pending->peer = this;
        world_.handler(std::move(request), pending->exchange());
        co_await pending->wait();
        pending->peer = nullptr;
        if (world_.taken != nullptr && pending->body == nullptr) {
            world_.taken->add(std::chrono::steady_clock::now() - began);
        }
        release_space();
        auto may_go_on = co_await write(*pending, is_head);
        pending_.reset();
        co_return may_go_on;
    }

    Task<bool> await_bytes() {
        allow(world_.limits.idle_time_max);
        auto error = error_code{};
        auto count = co_await transport_.async_read_some(buffer_.prepare(read_bytes),
                                                         asio::redirect_error(use_task, error));
        buffer_.commit(count);
        co_return !error && count > 0;
    }

    Task<error_code> read(Parser& parser, Request& request) {
        allow(world_.limits.header_time_max);
        auto error = error_code{};
        co_await beast::http::async_read_header(transport_, buffer_, parser,
                                                asio::redirect_error(use_task, error));
        if (error) {
            co_return error;
        }
        auto& message = parser.get();
        if (beast::iequals(message[beast::http::field::expect], "100-continue")) {
            co_await asio::async_write(
                transport_, asio::buffer(std::string_view{"HTTP/1.1 100 Continue\r\n\r\n"}),
                asio::redirect_error(use_task, error));
        }
        allow(world_.limits.body_time_max);
        request.method = method_of(message.method());
        request.target = std::string{message.target()};
        request.peer = peer_;
        for (const auto& field : message) {
            request.headers.add(std::string{field.name_string()}, std::string{field.value()});
        }
        if (!error && parser.content_length() && *parser.content_length() > 0) {
            error = co_await read_body(*parser.content_length(), request.body);
        } else if (!error && !parser.is_done()) {
            while (!error && !parser.is_done()) {
                co_await beast::http::async_read_some(transport_, buffer_, parser,
                                                      asio::redirect_error(use_task, error));
                error = error ? error : claim_space(message.body().size());
            }
            request.body = std::move(message.body());
            request.body.reserve(request.body.size() + body_padding);
        }
        co_return error;
    }

    /// Straight into its place: a large body is not copied through the buffer. The place grows with
    /// what has come.
    Task<error_code> read_body(std::uint64_t length, std::string& body) {
        auto here = std::min<std::size_t>(length, buffer_.size());
        body.reserve(std::min<std::size_t>(length, std::max(here, body_bytes_first)) +
                     body_padding);
        body.append(static_cast<const char*>(buffer_.data().data()), here);
        buffer_.consume(here);
        auto error = error_code{};
        while (here < length && !error) {
            if (here == body.size()) {
                auto wanted = std::min<std::size_t>(length, std::max(2 * here, body_bytes_first));
                error = claim_space(wanted);
                body.reserve(wanted + body_padding);
                body.resize(error ? here : wanted);
            }
            if (!error) {
                here += co_await transport_.async_read_some(
                    asio::buffer(body.data() + here, body.size() - here),
                    asio::redirect_error(use_task, error));
            }
        }
        co_return error;
    }

    /// For a body of so many bytes, what large ones may have together allowing.
    error_code claim_space(std::size_t bytes) {
        if (bytes <= body_bytes_uncounted || bytes <= claimed_bytes_) {
            return {};
        }
        auto more = bytes - claimed_bytes_;
        if (world_.body_bytes.fetch_add(more) + more > world_.limits.bodies_bytes_max) {
            world_.body_bytes.fetch_sub(more);
            return make_error_code(boost::system::errc::not_enough_memory);
        }
        claimed_bytes_ = bytes;
        return {};
    }

    void release_space() {
        if (claimed_bytes_ > 0) { // Most requests touch nothing that threads share.
            world_.body_bytes.fetch_sub(std::exchange(claimed_bytes_, 0));
        }
    }

    Task<> refuse(error_code error) {
        auto status = refusal_status(error);
        if (status != 0) {
            is_kept_alive_ = false;
            auto pending = PendingAnswer{gate_, 0};
            pending.response = {.status = status};
            if (status == 503) {
                pending.response.headers.add("Retry-After", "1");
            }
            co_await write(pending, false);
            co_await drain();
        }
    }

    Task<> drain() {
        auto error = error_code{};
        socket().shutdown(asio::ip::tcp::socket::shutdown_send, error);
        allow(drain_time_max);
        buffer_.clear();
        for (auto drained = std::size_t{0}; drained < drained_bytes_max && !error;) {
            drained += co_await socket().async_read_some(buffer_.prepare(read_bytes),
                                                         asio::redirect_error(use_task, error));
        }
    }

    Task<bool> write(PendingAnswer& pending, bool is_head) {
        auto& response = pending.response;
        is_kept_alive_ = is_kept_alive_ && !world_.is_stopping;
        auto head = head_text(
            response, {.is_kept_alive = is_kept_alive_, .has_length = pending.body == nullptr});
        allow(world_.limits.write_time_max);
        auto error = error_code{};
        auto body = asio::buffer(response.body);
        auto parts = std::array<asio::const_buffer, 2>{asio::buffer(head),
                                                       is_head ? asio::const_buffer{} : body};
        co_await asio::async_write(transport_, parts, asio::redirect_error(use_task, error));
        if (pending.body) {
            co_await pump(*pending.body, error);
        }
        co_return !error && is_kept_alive_;
    }

    Task<> pump(BodyStream& body, error_code& error) {
        while (!error) {
            deadline_.reset();
            auto text = co_await body.take();
            auto is_end = text.empty();
            allow(world_.limits.write_time_max);
            auto bytes = is_end ? std::string_view{"0\r\n\r\n"} : std::string_view{text};
            co_await asio::async_write(transport_, asio::buffer(bytes),
                                       asio::redirect_error(use_task, error));
            body.note_written(text.size());
            if (is_end) {
                break;
            }
        }
        body.end();
    }

    Task<> part() {
        auto ignored = error_code{};
        allow(world_.limits.write_time_max);
        if constexpr (std::is_same_v<Transport, TlsStream>) {
            co_await transport_.async_shutdown(asio::redirect_error(use_task, ignored));
        }
        socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
        socket().close(ignored);
    }

    ConnectionWorld& world_;
    std::shared_ptr<Gate> gate_;
    std::shared_ptr<asio::ssl::context> tls_;
    Transport transport_;
    beast::flat_buffer buffer_;
    std::string peer_;
    std::shared_ptr<PendingAnswer> pending_;
    std::size_t claimed_bytes_ = 0; ///< Of what large bodies may have together.
    bool is_kept_alive_ = true;
};

} // namespace

std::shared_ptr<Connection> make_connection(Socket socket, std::shared_ptr<Gate> gate,
                                            std::shared_ptr<asio::ssl::context> tls,
                                            ConnectionWorld& world) {
    if (tls) {
        auto& context = *tls;
        return std::make_shared<ConnectionOf<TlsStream>>(world, std::move(gate), std::move(tls),
                                                         std::move(socket), context);
    }
    return std::make_shared<ConnectionOf<Socket>>(world, std::move(gate), nullptr,
                                                  std::move(socket));
}

} // namespace sluice::http::internal

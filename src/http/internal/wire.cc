#include "http/internal/wire.h"

#include <array>
#include <type_traits>
#include <utility>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <fmt/format.h>

namespace sluice::http::internal {

namespace {

namespace beast = boost::beast;
using boost::system::error_code;
using TlsStream = asio::ssl::stream<Socket>;
using ResponseParser = beast::http::response_parser<beast::http::buffer_body>;

constexpr auto read_bytes_max = std::size_t{16} << 10U;

std::string request_text(const Call& call) {
    const auto& request = call.request;
    auto text = fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", to_string(request.method),
                            call.url.target, call.url.authority());
    for (const auto& [name, value] : request.headers.all()) {
        text += name;
        text += ": ";
        for (auto letter : value) {
            text += letter == '\r' || letter == '\n' || letter == '\0' ? ' ' : letter;
        }
        text += "\r\n";
    }
    auto may_have_body = request.method != Method::Get && request.method != Method::Head;
    if (may_have_body || !request.body.empty()) {
        fmt::format_to(std::back_inserter(text), "Content-Length: {}\r\n", request.body.size());
    }
    text += "\r\n";
    return text;
}

template <typename Transport>
class WireOf final : public Wire {
public:
    template <typename... Args>
    explicit WireOf(Args&&... args) : transport_(std::forward<Args>(args)...) {
        auto ignored = error_code{};
        socket().set_option(asio::ip::tcp::no_delay{true}, ignored);
    }

    Socket& socket() override {
        if constexpr (is_tls) {
            return transport_.next_layer();
        } else {
            return transport_;
        }
    }

    Task<Result<void>> shake_hands(const std::string& host) override {
        if constexpr (is_tls) {
            SSL_set_tlsext_host_name(transport_.native_handle(), host.c_str());
            transport_.set_verify_mode(asio::ssl::verify_peer);
            transport_.set_verify_callback(asio::ssl::host_name_verification{host});
            auto error = error_code{};
            co_await transport_.async_handshake(asio::ssl::stream_base::client,
                                                asio::redirect_error(use_task, error));
            if (error) {
                co_return fail(Errc::Unavailable, "TLS with {}: {}", host, error.message());
            }
        }
        co_return Result<void>{};
    }

    Task<Result<Response>> exchange(const Call& call, const ClientOptions& options,
                                    bool& has_sent) override {
        auto head = request_text(call);
        auto parts =
            std::array<asio::const_buffer, 2>{asio::buffer(head), asio::buffer(call.request.body)};
        auto error = error_code{};
        has_sent = true;
        co_await asio::async_write(transport_, parts, asio::redirect_error(use_task, error));
        auto parser = ResponseParser{};
        parser.header_limit(static_cast<std::uint32_t>(options.header_bytes_max));
        parser.body_limit(boost::none);
        parser.skip(call.request.method == Method::Head);
        // A server may answer, and refuse, before it has read everything.
        auto read_error = error_code{};
        co_await beast::http::async_read_header(transport_, buffer_, parser,
                                                asio::redirect_error(use_task, read_error));
        if (read_error) {
            co_return fail(Errc::Io, "{}: {}", call.url.authority(), read_error.message());
        }
        auto response = Response{.status = static_cast<int>(parser.get().result_int())};
        for (const auto& field : parser.get()) {
            response.headers.add(std::string{field.name_string()}, std::string{field.value()});
        }
        auto body = co_await read_body(parser, call, options, response);
        is_kept_alive_ = body && !error && parser.is_done() && parser.get().keep_alive();
        if (!body) {
            co_return std::unexpected(body.error());
        }
        co_return response;
    }

    bool is_kept_alive() const override { return is_kept_alive_; }

    void close() override {
        auto ignored = error_code{};
        socket().close(ignored);
    }

private:
    static constexpr bool is_tls = std::is_same_v<Transport, TlsStream>;

    Task<Result<void>> read_body(ResponseParser& parser, const Call& call,
                                 const ClientOptions& options, Response& response) {
        auto space = std::array<char, read_bytes_max>{};
        while (!parser.is_done()) {
            parser.get().body().data = space.data();
            parser.get().body().size = space.size();
            auto error = error_code{};
            co_await beast::http::async_read_some(transport_, buffer_, parser,
                                                  asio::redirect_error(use_task, error));
            if (error && error != beast::http::error::need_buffer) {
                co_return fail(Errc::Io, "{}: {}", call.url.authority(), error.message());
            }
            auto bytes = std::string_view{space.data(), space.size() - parser.get().body().size};
            if (call.on_body) {
                call.on_body(bytes);
            } else if (response.body.size() + bytes.size() > options.body_bytes_max) {
                co_return fail(Errc::Unsupported, "{}: the answer is longer than {} bytes",
                               call.url.authority(), options.body_bytes_max);
            } else {
                response.body += bytes;
            }
        }
        co_return Result<void>{};
    }

    Transport transport_;
    beast::flat_buffer buffer_;
    bool is_kept_alive_ = false;
};

} // namespace

std::unique_ptr<Wire> make_wire(Socket socket, asio::ssl::context* tls) {
    if (tls != nullptr) {
        return std::make_unique<WireOf<TlsStream>>(std::move(socket), *tls);
    }
    return std::make_unique<WireOf<Socket>>(std::move(socket));
}

} // namespace sluice::http::internal

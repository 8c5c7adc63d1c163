#include "http/server.h"

#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <fmt/format.h>

#include "http/internal/loop.h"

namespace sluice::http {

namespace {

using boost::system::error_code;
using internal::Acceptor;
using internal::Loop;
using internal::Socket;
using internal::Task;
using TlsContext = boost::asio::ssl::context;
namespace asio = boost::asio;

constexpr auto accept_pause = std::chrono::milliseconds{50};
constexpr auto stop_check_interval = std::chrono::milliseconds{5};

Result<std::shared_ptr<TlsContext>> load_tls(const TlsFiles& files) {
    auto context = std::make_shared<TlsContext>(TlsContext::tls_server);
    context->set_options(TlsContext::no_tlsv1 | TlsContext::no_tlsv1_1);
    auto error = error_code{};
    context->use_certificate_chain_file(files.certificate, error);
    if (error) {
        return fail(Errc::InvalidInput, "certificate {}: {}", files.certificate, error.message());
    }
    context->use_private_key_file(files.key, TlsContext::pem, error);
    if (error) {
        return fail(Errc::InvalidInput, "key {}: {}", files.key, error.message());
    }
    return context;
}

class ListeningServer final : public Server {
public:
    ListeningServer(ServerOptions options, Handler handler, observe::Diagnostics& diagnostics)
        : options_(std::move(options)), diagnostics_(diagnostics) {
        world_.limits = options_.limits;
        world_.taken = options_.taken;
        world_.handler = std::move(handler);
        for (auto number = std::size_t{0}; number < std::max<std::size_t>(options_.threads, 1);
             ++number) {
            loops_.push_back(std::make_unique<Loop>(world_));
        }
    }
    ~ListeningServer() override { stop(Nanos{0}); }

    Result<void> listen() {
        if (options_.tls) {
            tls_ = TRY(load_tls(*options_.tls));
        }
        auto error = error_code{};
        auto address = asio::ip::make_address(options_.address, error);
        if (error) {
            return fail(Errc::InvalidInput,
                        "\"{}\" is no address to listen on: write an IP address such as 127.0.0.1",
                        options_.address);
        }
        auto endpoint = asio::ip::tcp::endpoint{address, options_.port};
        acceptor_.emplace(loops_.front()->context());
        acceptor_->open(endpoint.protocol(), error);
        if (!error) {
            acceptor_->set_option(asio::socket_base::reuse_address{true}, error);
            acceptor_->bind(endpoint, error);
        }
        if (!error) {
            acceptor_->listen(4096, error);
        }
        if (error) {
            return fail(Errc::Unavailable, "cannot listen on {}:{}: {}", options_.address,
                        options_.port, error.message());
        }
        port_ = acceptor_->local_endpoint(error).port();
        asio::co_spawn(loops_.front()->context(), accept(), asio::detached);
        for (auto number = std::size_t{0}; number < loops_.size(); ++number) {
            loops_[number]->start(fmt::format("http-{}", number));
        }
        return {};
    }

    std::uint16_t port() const override { return port_; }
    std::size_t connections() const override { return world_.connections; }

    Result<void> reload_tls(const TlsFiles& files) override {
        auto loaded = TRY(load_tls(files));
        auto lock = std::lock_guard{tls_mutex_};
        tls_ = std::move(loaded);
        return {};
    }

    void stop(Nanos grace) override {
        if (world_.is_stopping.exchange(true)) {
            return;
        }
        loops_.front()->gate()->enter([this] {
            auto ignored = error_code{};
            acceptor_->close(ignored);
        });
        auto until = std::chrono::steady_clock::now() + grace;
        while (world_.connections > 0 && std::chrono::steady_clock::now() < until) {
            for (auto& loop : loops_) {
                loop->close_idle();
            }
            std::this_thread::sleep_for(stop_check_interval);
        }
        for (auto& loop : loops_) {
            loop->finish();
        }
    }

private:
    /// Each loop in turn gets a connection.
    Task<> accept() {
        auto next = std::size_t{0};
        auto pause = internal::SteadyTimer{loops_.front()->context()};
        while (!world_.is_stopping) {
            auto& loop = *loops_[next++ % loops_.size()];
            auto socket = Socket{loop.context()};
            auto error = error_code{};
            co_await acceptor_->async_accept(socket,
                                             asio::redirect_error(internal::use_task, error));
            if (error) {
                if (world_.is_stopping) {
                    break;
                }
                // Usually out of file descriptors: the next ones may find some.
                diagnostics_.warn("a connection was not taken", {{"why", error.message()}});
                pause.expires_after(accept_pause);
                co_await pause.async_wait(internal::use_task);
                continue;
            }
            if (world_.connections >= options_.limits.connections_max) {
                continue;
            }
            auto lock = std::lock_guard{tls_mutex_};
            loop.gate()->enter([&loop, tls = tls_, taken = std::move(socket)]() mutable {
                loop.adopt(std::move(taken), std::move(tls));
            });
        }
    }

    ServerOptions options_;
    observe::Diagnostics& diagnostics_;
    internal::ConnectionWorld world_;
    std::vector<std::unique_ptr<Loop>> loops_;
    std::optional<Acceptor> acceptor_;
    std::mutex tls_mutex_;
    std::shared_ptr<TlsContext> tls_;
    std::uint16_t port_ = 0;
};

} // namespace

Result<std::unique_ptr<Server>> Server::open(ServerOptions options, Handler handler,
                                             observe::Diagnostics& diagnostics) {
    auto server =
        std::make_unique<ListeningServer>(std::move(options), std::move(handler), diagnostics);
    TRY(server->listen());
    return server;
}

} // namespace sluice::http

#include "http/client.h"

#include <atomic>
#include <future>
#include <map>
#include <thread>
#include <tuple>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/redirect_error.hpp>
#include <fmt/format.h>

#include "http/internal/gate.h"
#include "http/internal/wire.h"
#include "reactor/thread.h"

namespace sluice::http {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using internal::Socket;
using internal::Task;
using internal::use_task;
using internal::Wire;
using Moment = std::chrono::steady_clock::time_point;
using Resolver = asio::ip::basic_resolver<asio::ip::tcp, internal::Executor>;
using Host = std::tuple<bool, std::string, std::uint16_t>;

struct IdleWire {
    std::unique_ptr<Wire> wire;
    Moment since;
};

/// A call under way, and what must be closed to end it.
struct ActiveCall {
    Call call;
    std::unique_ptr<Wire> wire;
    Socket* connecting = nullptr;
    bool has_sent = false;
    bool is_cancelled = false;
    bool is_timed_out = false;

    bool is_over() const { return is_cancelled || is_timed_out; }
    void abort() {
        auto ignored = error_code{};
        if (wire) {
            wire->close();
        } else if (connecting != nullptr) {
            connecting->close(ignored);
        }
    }
};

class PooledClient final : public Client {
public:
    explicit PooledClient(ClientOptions options)
        : options_(std::move(options)), tls_(asio::ssl::context::tls_client) {
        auto ignored = error_code{};
        if (options_.ca_file.empty()) {
            tls_.set_default_verify_paths(ignored);
        } else {
            tls_.load_verify_file(options_.ca_file, ignored);
        }
        thread_ = reactor::start_thread("http-client", [this](std::stop_token) {
            gate_->open();
            context_.run();
        });
    }

    ~PooledClient() override {
        gate_->shut();
        context_.stop();
        thread_.join();
    }
    PooledClient(const PooledClient&) = delete;
    PooledClient& operator=(const PooledClient&) = delete;

    CallId send(Call call, Done done) override {
        auto id = CallId{++last_id_};
        gate_->enter([this, id, call = std::move(call), done = std::move(done)]() mutable {
            auto active = std::make_shared<ActiveCall>(std::move(call));
            active_[id] = active;
            asio::co_spawn(context_, run(id, std::move(active), std::move(done)), asio::detached);
        });
        return id;
    }

    void cancel(CallId id) override {
        gate_->enter([this, id] {
            if (auto found = active_.find(id); found != active_.end()) {
                found->second->is_cancelled = true;
                found->second->abort();
            }
        });
    }

private:
    Task<> run(CallId id, std::shared_ptr<ActiveCall> active, Done done) {
        auto timer = internal::SteadyTimer{context_};
        if (active->call.timeout > Nanos{0}) {
            timer.expires_after(active->call.timeout);
            timer.async_wait([active](error_code error) {
                if (!error) {
                    active->is_timed_out = true;
                    active->abort();
                }
            });
        }
        auto result = co_await attempt(*active);
        timer.cancel();
        active_.erase(id);
        if (!result && active->is_timed_out) {
            result = fail(
                Errc::LimitExceeded, "{} did not answer within {} ms", active->call.url.authority(),
                std::chrono::floor<std::chrono::milliseconds>(active->call.timeout).count());
        } else if (!result && active->is_cancelled) {
            result = fail(Errc::Unavailable, "the call was cancelled");
        }
        done(std::move(result));
    }

    Task<Result<Response>> attempt(ActiveCall& active) {
        const auto& url = active.call.url;
        auto host = Host{url.is_secure, url.host, url.port};
        auto is_reused = (active.wire = take_idle(host)) != nullptr;
        if (!is_reused) {
            if (auto connected = co_await connect(active); !connected) {
                co_return std::unexpected(connected.error());
            }
        }
        auto result = co_await active.wire->exchange(active.call, options_, active.has_sent);
        // A kept connection may have been closed while it was idle: that request was never read.
        if (!result && is_reused && result.error().code == Errc::Io && !active.is_over() &&
            (active.call.is_repeatable || is_repeatable(active.call.request.method))) {
            active.wire.reset();
            if (auto connected = co_await connect(active); !connected) {
                co_return std::unexpected(connected.error());
            }
            result = co_await active.wire->exchange(active.call, options_, active.has_sent);
        }
        if (result && active.wire->is_kept_alive()) {
            keep(host, std::move(active.wire));
        }
        co_return result;
    }

    /// Others are the caller's to repeat: it knows by what key the other side recognises them.
    static bool is_repeatable(Method method) {
        return method == Method::Get || method == Method::Head || method == Method::Put ||
               method == Method::Delete || method == Method::Options;
    }

    Task<Result<void>> connect(ActiveCall& active) {
        const auto& url = active.call.url;
        auto resolver = Resolver{context_};
        auto error = error_code{};
        auto found = co_await resolver.async_resolve(url.host, std::to_string(url.port),
                                                     asio::redirect_error(use_task, error));
        if (error) {
            co_return fail(Errc::Unavailable, "cannot find {}: {}", url.host, error.message());
        }
        auto last = fmt::format("{} has no address", url.host);
        auto is_forbidden = false;
        for (const auto& entry : found) {
            // While the name was looked up there was nothing to close.
            if (active.is_over()) {
                break;
            }
            auto address = entry.endpoint().address().to_string();
            if (options_.may_reach && !options_.may_reach(address)) {
                last = fmt::format("{} is {}, where requests may not go", url.host, address);
                is_forbidden = true;
                continue;
            }
            is_forbidden = false;
            auto socket = Socket{context_};
            active.connecting = &socket;
            co_await socket.async_connect(entry.endpoint(), asio::redirect_error(use_task, error));
            active.connecting = nullptr;
            if (!error && !active.is_over()) {
                active.wire =
                    internal::make_wire(std::move(socket), url.is_secure ? &tls_ : nullptr);
                co_return co_await active.wire->shake_hands(url.host);
            }
            last =
                fmt::format("cannot reach {} at {}: {}", url.authority(), address, error.message());
        }
        co_return fail(is_forbidden ? Errc::InvalidInput : Errc::Unavailable, "{}", last);
    }

    std::unique_ptr<Wire> take_idle(const Host& host) {
        auto& wires = idle_[host];
        auto oldest = std::chrono::steady_clock::now() - options_.idle_time_max;
        while (!wires.empty()) {
            auto idle = std::move(wires.back());
            wires.pop_back();
            if (idle.since > oldest) {
                return std::move(idle.wire);
            }
        }
        return nullptr;
    }

    void keep(const Host& host, std::unique_ptr<Wire> wire) {
        auto& wires = idle_[host];
        if (wires.size() < options_.idle_per_host_max) {
            wires.push_back({std::move(wire), std::chrono::steady_clock::now()});
        }
    }

    ClientOptions options_;
    asio::ssl::context tls_;
    asio::io_context context_{1};
    asio::executor_work_guard<internal::Executor> work_{context_.get_executor()};
    std::shared_ptr<internal::Gate> gate_ = std::make_shared<internal::Gate>(context_);
    std::atomic<std::uint64_t> last_id_{0};
    std::map<CallId, std::shared_ptr<ActiveCall>> active_;
    std::map<Host, std::vector<IdleWire>> idle_;
    std::jthread thread_;
};

} // namespace

std::unique_ptr<Client> Client::create(ClientOptions options) {
    return std::make_unique<PooledClient>(std::move(options));
}

Result<Response> Client::request(Call call) {
    auto promise = std::promise<Result<Response>>{};
    auto answer = promise.get_future();
    send(std::move(call),
         [&promise](Result<Response> result) { promise.set_value(std::move(result)); });
    return answer.get();
}

} // namespace sluice::http

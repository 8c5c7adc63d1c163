#include <future>
#include <utility>

#include <unistd.h>

#include "client/internal/body_pipe.h"
#include "client/transport.h"
#include "http/client.h"
#include "http/url.h"

namespace sluice::client {

namespace {

class SocketTransport final : public Transport {
public:
    SocketTransport(std::string name, http::Url url, const SocketOptions& options)
        : name_(std::move(name)),
          url_(std::move(url)),
          client_(http::Client::create(
              {.body_bytes_max = std::size_t{256} << 20U, .ca_file = options.ca_file})) {}

    const std::string& name() const override { return name_; }

    Result<http::Response> request(http::Request request, Nanos timeout) override {
        return client_->request(call_of(std::move(request), timeout));
    }

    Result<http::Response> stream(http::Request request, Nanos idle_time_max,
                                  const OnBody& on_body) override {
        auto pipe = internal::BodyPipe{};
        auto done = std::promise<void>{};
        auto call = call_of(std::move(request), Nanos{0});
        call.on_body = [&pipe](std::string_view bytes) { pipe.push(bytes); };
        auto id = client_->send(std::move(call), [&](Result<http::Response> response) {
            pipe.end(std::move(response));
            done.set_value();
        });
        auto response = pipe.read(idle_time_max, on_body);
        client_->cancel(id);
        done.get_future().wait();
        return response;
    }

private:
    http::Call call_of(http::Request request, Nanos timeout) const {
        auto url = url_;
        url.target = request.target;
        return {.url = std::move(url), .request = std::move(request), .timeout = timeout};
    }

    std::string name_;
    http::Url url_;
    std::unique_ptr<http::Client> client_;
};

} // namespace

Result<std::unique_ptr<Transport>> open_socket_transport(const SocketOptions& options) {
    auto url = http::parse_url(options.server);
    if (!url) {
        return fail(Errc::InvalidInput,
                    "server \"{}\": {}; expected a URL such as http://127.0.0.1:8080",
                    options.server, url.error().message);
    }
    if (url->target != "/") {
        return fail(Errc::InvalidInput,
                    "server \"{}\": expected scheme, host and port only, such as "
                    "http://127.0.0.1:8080",
                    options.server);
    }
    if (!options.ca_file.empty() && ::access(options.ca_file.c_str(), R_OK) != 0) {
        return fail(Errc::NotFound, "cannot read the certificates in {}", options.ca_file);
    }
    auto name = options.server.ends_with('/') ? options.server.substr(0, options.server.size() - 1)
                                              : options.server;
    return std::make_unique<SocketTransport>(std::move(name), *std::move(url), options);
}

} // namespace sluice::client

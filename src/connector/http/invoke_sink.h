#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "connector/http/connection.h"
#include "event/sink.h"
#include "http/client.h"

namespace sluice::connector::http {

/// The function `http:invoke` of state machines: requests to wherever a workflow says, over
/// connections that say who asks. Members may be called from any thread.
class InvokeSink final : public event::Sink {
public:
    static constexpr auto name = std::string_view{"http:invoke"};

    /// `is_private`: all of them may go to loopback and private addresses.
    InvokeSink(std::vector<Connection> connections, bool is_private)
        : connections_(std::move(connections)), is_private_(is_private) {}
    /// Answers what is under way with the kind `cancelled`.
    ~InvokeSink() override;

    bool is_answered_from_outside() const override { return false; }
    void deliver(event::Delivery delivery, Done done) override;
    void cancel(std::string_view token) override;

private:
    struct Call {
        sluice::http::Client* client = nullptr;
        sluice::http::CallId id{};
        Done done;
    };

    Result<const Connection*> find(std::string_view space, const std::string& wanted) const;
    sluice::http::Client& client_for(const Connection* connection);
    void finish(std::uint64_t number, event::Answer answer);

    const std::vector<Connection> connections_;
    const bool is_private_;
    std::mutex mutex_;
    std::map<std::uint64_t, Call> calls_;
    std::map<std::string, std::uint64_t, std::less<>> by_token_;
    std::uint64_t last_ = 0;
    std::unique_ptr<sluice::http::Client> guarded_; ///< Null until it is needed.
    std::unique_ptr<sluice::http::Client> free_;
};

} // namespace sluice::connector::http

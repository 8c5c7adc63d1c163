#pragma once

#include <memory>

#include <nats/nats.h>

namespace sluice::connector::nats::internal {

/// Owns one of the library's objects.
template <typename T, auto destroy>
struct Destroyer {
    void operator()(T* object) const { destroy(object); }
};

template <typename T, auto destroy>
using Handle = std::unique_ptr<T, Destroyer<T, destroy>>;

using OptionsHandle = Handle<natsOptions, natsOptions_Destroy>;
using ConnectionHandle = Handle<natsConnection, natsConnection_Destroy>;
using SubscriptionHandle = Handle<natsSubscription, natsSubscription_Destroy>;
using MessageHandle = Handle<natsMsg, natsMsg_Destroy>;
using StatisticsHandle = Handle<natsStatistics, natsStatistics_Destroy>;
using ContextHandle = Handle<jsCtx, jsCtx_Destroy>;
using StreamInfoHandle = Handle<jsStreamInfo, jsStreamInfo_Destroy>;
using ConsumerInfoHandle = Handle<jsConsumerInfo, jsConsumerInfo_Destroy>;

/// Where a C function puts what it made: `Handle` takes it over when the expression ends.
template <typename H>
class Out {
public:
    explicit Out(H& handle) : handle_(handle) {}
    ~Out() { handle_.reset(made_); }
    Out(const Out&) = delete;
    Out& operator=(const Out&) = delete;
    operator typename H::pointer *() { return &made_; } // NOLINT(google-explicit-constructor)

private:
    H& handle_;
    typename H::pointer made_ = nullptr;
};

} // namespace sluice::connector::nats::internal

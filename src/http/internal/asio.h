#pragma once

#include <chrono>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace sluice::http::internal {

namespace asio = boost::asio;

/// The executor's own type everywhere: the one that can hold any executor costs an allocation a
/// step.
using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<asio::ip::tcp, Executor>;
using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, Executor>;
using SteadyTimer =
    asio::basic_waitable_timer<std::chrono::steady_clock,
                               asio::wait_traits<std::chrono::steady_clock>, Executor>;

template <typename T = void>
using Task = asio::awaitable<T, Executor>;
inline constexpr auto use_task = asio::use_awaitable_t<Executor>{};

} // namespace sluice::http::internal

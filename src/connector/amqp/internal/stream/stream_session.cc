#include "connector/amqp/internal/stream/stream_session.h"

#include <algorithm>
#include <cerrno>
#include <tuple>

#include <poll.h>

#include "connector/amqp/internal/queue_session.h"

namespace sluice::connector::amqp::internal::stream {

namespace {

using Steady = std::chrono::steady_clock;

std::string list_of(const std::vector<Node>& nodes) {
    auto text = std::string{};
    for (const auto& node : nodes) {
        text += fmt::format("{}{}:{}", text.empty() ? "" : ", ", node.host, node.port);
    }
    return text;
}

/// Those that only follow first: their leader has enough to do.
std::vector<Node> nodes_of(const StreamPlaces& places) {
    auto nodes = places.replicas;
    if (places.leader) {
        nodes.push_back(*places.leader);
    }
    return nodes;
}

} // namespace

Result<std::unique_ptr<Session>> StreamSession::open(const Options& options) {
    auto session = std::unique_ptr<StreamSession>{new StreamSession{options}};
    std::ignore =
        TRY(session->add_link({.host = options.host, .port = options.effective_stream_port()}));
    return session;
}

Result<Link*> StreamSession::add_link(const Node& node) {
    auto connection = TRY(Connection::open(options(), node, "sluice source"));
    links_.push_back(
        std::make_unique<Link>(std::move(connection), node, [this](Lane& lane) { note(lane); }));
    return links_.back().get();
}

Result<Link*> StreamSession::link_to(const Node& node) {
    for (const auto& link : links_) {
        if (link->node() == node && !link->is_full()) {
            return link.get();
        }
    }
    // Another one to the first node goes the way that the first went, which may be a proxy.
    return add_link(links_.front()->node() == node
                        ? Node{.host = options().host, .port = options().effective_stream_port()}
                        : node);
}

Result<Link*> StreamSession::link_for(const std::string& stream) {
    auto places = links_.front()->locate(stream);
    if (!places && places.error().code == Errc::NotFound) {
        places = explain(stream, places.error());
    }
    auto nodes = nodes_of(TRY(std::move(places)));
    if (nodes.empty()) {
        return fail(Errc::Unavailable, "no node has stream {} just now", stream);
    }
    const auto& first = links_.front()->node();
    if (!links_.front()->is_known() || std::ranges::find(nodes, first) != nodes.end()) {
        return link_to(first);
    }
    for (const auto& node : nodes) {
        if (auto link = link_to(node); link) {
            return link;
        }
    }
    return fail(Errc::Unsupported, "stream {} lies at {}, which cannot be reached", stream,
                list_of(nodes));
}

/// By AMQP the broker says more: that there is no such queue, or that it is of another type.
Result<StreamPlaces> StreamSession::explain(const std::string& stream, const Error& refusal) const {
    auto session = TRY(QueueSession::open(options()));
    TRY(session->attach(stream, 0));
    session->close();
    return fail(Errc::Unavailable, "{}", refusal.message);
}

Lane* StreamSession::find(std::string_view queue) {
    for (const auto& link : links_) {
        if (auto* lane = link->find(queue); lane != nullptr) {
            return lane;
        }
    }
    return nullptr;
}

Result<Lane*> StreamSession::open_lane(Lane::Settings settings, const StreamStart* start,
                                       std::uint16_t prefetch) {
    auto* link = TRY(link_for(settings.name));
    settings.limits = options().limits;
    return TRY(link->subscribe(std::move(settings), *start, prefetch));
}

void StreamSession::end_lane(Lane& lane) {
    const auto& ended = static_cast<const StreamLane&>(lane);
    auto link = std::ranges::find_if(links_, [&](const auto& each) { return each->has(ended); });
    (*link)->unsubscribe(ended);
}

Result<bool> StreamSession::receive(std::size_t bytes_max, Nanos wait) {
    auto deadline = Steady::now() + wait;
    while (true) {
        if (TRY(receive_now(bytes_max))) {
            return true;
        }
        auto left = Nanos{deadline - Steady::now()};
        if (left <= Nanos{0}) {
            return false;
        }
        TRY(wait_for_any(left));
    }
}

/// Of the link that gave something last, and when it has nothing more, of the others.
Result<bool> StreamSession::receive_now(std::size_t bytes_max) {
    for (auto tried = std::size_t{0}; tried < links_.size(); ++tried) {
        if (TRY(links_[last_link_]->receive(bytes_max))) {
            return true;
        }
        auto& connection = links_[last_link_]->connection();
        TRY(connection.check_silence());
        TRY(connection.keep_alive());
        last_link_ = (last_link_ + 1) % links_.size();
    }
    return false;
}

Result<void> StreamSession::wait_for_any(Nanos wait) {
    auto waited = std::vector<pollfd>{};
    for (const auto& link : links_) {
        const auto& connection = link->connection();
        waited.push_back(
            {.fd = connection.raw(), .events = connection.reading_wants(), .revents = 0});
        wait = std::min(wait, connection.patience());
    }
    auto time = timespec{.tv_sec = static_cast<time_t>(wait.count() / 1'000'000'000),
                         .tv_nsec = static_cast<long>(wait.count() % 1'000'000'000)};
    if (::ppoll(waited.data(), waited.size(), &time, nullptr) < 0 && errno != EINTR) {
        return fail(Errc::Unavailable, "ppoll: {}",
                    std::error_code{errno, std::generic_category()}.message());
    }
    return {};
}

Result<void> StreamSession::flush() {
    for (const auto& link : links_) {
        TRY(link->give_credit());
    }
    return {};
}

Result<void> StreamSession::keep_alive() {
    for (const auto& link : links_) {
        TRY(link->connection().keep_alive());
    }
    return {};
}

void StreamSession::close() {
    for (const auto& link : links_) {
        link->connection().close();
    }
}

} // namespace sluice::connector::amqp::internal::stream

#include "store/redis/internal/pool.h"

#include <algorithm>
#include <set>
#include <thread>

#include "store/redis/internal/round.h"

namespace sluice::store::redis::internal {
namespace {

constexpr auto idle_max = std::size_t{16};
// A node that stands still is not waited for when others can be asked.
constexpr auto look_limit_max = std::chrono::seconds{1};

} // namespace

Attempts::Attempts(Nanos patience)
    : until_(SystemClock{}.steady() + patience),
      backoff_(static_cast<std::uint64_t>(SystemClock{}.wall().time_since_epoch().count()), {}) {}

bool Attempts::wait() {
    auto left = until_ - SystemClock{}.steady();
    if (left <= Nanos{0}) {
        return false;
    }
    std::this_thread::sleep_for(std::min(left, backoff_.next()));
    return true;
}

bool Pool::is_passing(const Error& error) {
    // A script that is not known was flushed or its server restarted; a new connection loads it.
    return error.code == Errc::Unavailable || error.message.starts_with("NOSCRIPT") ||
           redirect_in(error.message);
}

Result<void> Pool::ask_all(std::span<Call> calls) {
    auto attempts = Attempts{options_.patience};
    for (;;) {
        auto answer = Round{*this, calls}.run();
        if (answer || !is_passing(answer.error()) || !attempts.wait()) {
            return answer;
        }
    }
}

Result<std::vector<std::string>> Pool::one_per_node(std::span<const std::string> keys,
                                                    Nanos patience) {
    auto attempts = Attempts{patience};
    for (;;) {
        auto chosen = std::vector<std::string>{};
        auto seen = std::set<Address>{};
        auto fault = Result<void>{};
        for (const auto& key : keys) {
            auto place = place_of(key);
            if (!place) {
                fault = std::unexpected(std::move(place).error());
                break;
            }
            if (seen.insert(std::move(*place)).second) {
                chosen.push_back(key);
            }
        }
        if (fault) {
            return chosen;
        }
        if (!is_passing(fault.error()) || !attempts.wait()) {
            return std::unexpected(std::move(fault).error());
        }
    }
}

Result<Address> Pool::place_of(std::string_view key) {
    TRY(look());
    if (kind_ == Kind::Server) {
        return Address{};
    }
    auto slot = slot_of(key);
    auto lock = std::lock_guard{mutex_};
    if (const auto* owner = map_.owner_of(slot)) {
        return *owner;
    }
    is_map_old_ = true;
    return fail(Errc::Unavailable, "no node of the Redis Cluster at {} has slot {}",
                options_.server.address(), slot);
}

Result<void> Pool::look() {
    if (kind_ == Kind::Server) {
        return {};
    }
    if (kind_ == Kind::Cluster) {
        auto lock = std::lock_guard{mutex_};
        if (!std::exchange(is_map_old_, false)) {
            return {};
        }
    }
    auto limit = options_.server.connect_limit;
    if (kind_ == Kind::Cluster) {
        limit = std::min<Nanos>(limit, look_limit_max);
    }
    auto answer = Result<void>{};
    for (const auto& place : known_places()) {
        answer = look_at(place, limit);
        if (answer || !is_passing(answer.error())) {
            return answer;
        }
    }
    auto lock = std::lock_guard{mutex_};
    is_map_old_ = true;
    return answer;
}

Result<void> Pool::look_at(const Address& place, Nanos limit) {
    auto server = options_at(place).server;
    server.connect_limit = limit;
    server.call_limit = limit;
    auto client = TRY(resp::Client::connect(server));
    auto info = TRY(client.call("INFO", "cluster"));
    if (info_field(info.text(), "cluster_enabled") != "1") {
        if (kind_ == Kind::Cluster) {
            return fail(Errc::Unavailable, "Redis at {} is in no cluster any more",
                        server.address());
        }
        kind_ = Kind::Server;
        return {};
    }
    auto slots = TRY(client.call("CLUSTER", "SLOTS"));
    auto map = TRY(SlotMap::parse(slots, server.host));
    auto lock = std::lock_guard{mutex_};
    map_ = std::move(map);
    kind_ = Kind::Cluster;
    return {};
}

std::vector<Address> Pool::known_places() {
    auto lock = std::lock_guard{mutex_};
    auto places = map_.nodes();
    if (!places.empty()) {
        auto first = static_cast<std::ptrdiff_t>(looks_++ % places.size());
        std::ranges::rotate(places, places.begin() + first);
    }
    places.push_back({});
    places.insert(places.end(), options_.nodes.begin(), options_.nodes.end());
    return places;
}

std::optional<Address> Pool::follow(const Error& error, const Address& from) {
    if (kind_ != Kind::Cluster || !is_passing(error)) {
        return std::nullopt;
    }
    auto redirect = redirect_in(error.message);
    auto lock = std::lock_guard{mutex_};
    if (!redirect) {
        is_map_old_ = true;
        return std::nullopt;
    }
    if (redirect->to.host.empty()) {
        redirect->to.host = from.host;
    }
    if (redirect->kind == Redirect::Kind::Ask) {
        return redirect->to;
    }
    map_.move(redirect->slot, redirect->to);
    return std::nullopt;
}

Options Pool::options_at(const Address& place) const {
    auto options = options_;
    if (place != Address{}) {
        options.server.host = place.host;
        options.server.port = place.port;
        options.server.socket_path.clear();
    }
    return options;
}

Result<std::unique_ptr<Connection>> Pool::borrow(const Address& place) {
    {
        auto lock = std::lock_guard{mutex_};
        auto& idle = idle_[place];
        if (!idle.empty()) {
            auto connection = std::move(idle.back());
            idle.pop_back();
            return connection;
        }
    }
    auto options = options_at(place);
    auto opened = Connection::open(
        options, kind_ == Kind::Cluster ? ServerKind::InCluster : ServerKind::Alone);
    if (!opened) {
        auto address = options.server.address();
        auto is_told = kind_ == Kind::Server || opened.error().message.contains(address);
        return fail(opened.error().code, "{}{}", is_told ? "" : "Redis at " + address + ": ",
                    opened.error().message);
    }
    return std::make_unique<Connection>(std::move(*opened));
}

void Pool::give_back(const Address& place, std::unique_ptr<Connection> connection,
                     const Error* error) {
    auto is_lost = !connection->client().is_open();
    // The master became a replica: its name may lead to another by now.
    auto is_demoted = error != nullptr && error->message.starts_with("READONLY");
    auto is_good = error == nullptr || !is_passing(*error) || redirect_in(error->message);
    auto lock = std::lock_guard{mutex_};
    auto& idle = idle_[place];
    if (is_lost || is_demoted) {
        idle.clear();
    }
    if (!is_lost && is_good && connection->client().owed() == 0 && idle.size() < idle_max) {
        idle.push_back(std::move(connection));
    }
}

} // namespace sluice::store::redis::internal

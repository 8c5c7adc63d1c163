#include "connector/redis/testing/scene.h"

#include <chrono>
#include <numeric>

#include <fmt/format.h>

#include "event/codec.h"

namespace sluice::connector::redis::testing {
namespace {

constexpr auto patience = std::chrono::seconds{20};

void take(const event::Chunk& chunk, event::Codec& codec, Got& into) {
    for (const auto& record : chunk.records) {
        into.numbers.push_back(record.number);
        into.partitions.push_back(chunk.partition);
        if (!record.fault.empty()) {
            into.faults.push_back(record.fault);
            continue;
        }
        auto event = codec.parse_shared(
            std::string_view{*chunk.bytes}.substr(record.begin, record.size), chunk.bytes);
        into.ids.push_back(event ? std::stoull(std::string{event->id()}) : 999'999'999);
    }
}

} // namespace

std::string event_json(std::uint64_t number, std::size_t data_bytes) {
    return fmt::format(
        R"({{"specversion":"1.0","id":"{}","source":"/test","type":"t","data":"{}"}})", number,
        std::string(data_bytes, 'd'));
}

Scene::Scene(resp::testing::Settings settings) {
    if (resp::testing::is_redis_installed()) {
        server_ = resp::testing::RedisServer::start(std::move(settings));
    }
}

Options Scene::options(std::string_view query) const {
    auto options = parse_options(server_->url("bus", std::string{query}));
    return options ? *options : Options{};
}

void Scene::connect() {
    // The server may have been another since.
    if (!client_ || !client_->call("PING")) {
        auto client = resp::Client::connect(server_->options());
        if (client) {
            client_ = std::move(*client);
        }
    }
}

void Scene::add(const std::string& stream, std::uint64_t from, std::uint64_t to,
                std::size_t data_bytes) {
    connect();
    auto writer = EntryWriter{Mode::Structured};
    for (auto number = from; number < to; ++number) {
        std::ignore = writer.write(stream, event_json(number, data_bytes), 0, client_->commands());
        if (client_->commands().count() == 1000 || number + 1 == to) {
            std::ignore = client_->send();
            while (client_->owed() > 0 && client_->is_open()) {
                std::ignore = client_->receive();
            }
        }
    }
}

Got read(event::Source& source, std::size_t count, std::size_t bytes_max) {
    auto got = Got{};
    auto codec = event::Codec{};
    auto limit = std::chrono::steady_clock::now() + patience;
    while (got.numbers.size() < count && std::chrono::steady_clock::now() < limit) {
        auto chunk = source.read(bytes_max, std::chrono::milliseconds{100});
        if (!chunk) {
            got.error = chunk.error().message;
            break;
        }
        take(*chunk, codec, got);
    }
    return got;
}

std::vector<std::uint64_t> numbers(std::uint64_t from, std::uint64_t to) {
    auto list = std::vector<std::uint64_t>(to - from);
    std::iota(list.begin(), list.end(), from);
    return list;
}

} // namespace sluice::connector::redis::testing

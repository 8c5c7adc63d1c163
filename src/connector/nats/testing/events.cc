#include "connector/nats/testing/events.h"

#include <charconv>
#include <chrono>
#include <mutex>

namespace sluice::connector::nats::testing {

std::string event_json(std::string_view id, std::size_t data_bytes) {
    return fmt::format(
        R"({{"specversion":"1.0","id":"{}","source":"/test","type":"tried","data":"{}"}})", id,
        std::string(data_bytes, 'x'));
}

Result<void> send_all(event::Producer& producer, const std::string& to, std::uint64_t first,
                      std::uint64_t last, std::size_t data_bytes) {
    auto mutex = std::mutex{};
    auto outcome = Result<void>{};
    for (auto id = first; id <= last; ++id) {
        producer.send({.to = to,
                       .key = fmt::format("{}/{}", to, id),
                       .json = event_json(fmt::format("{}", id), data_bytes)},
                      [&](const Result<void>& result) {
                          auto lock = std::lock_guard{mutex};
                          if (!result && outcome) {
                              outcome = result;
                          }
                      });
    }
    auto flushed = producer.flush(std::chrono::seconds{60});
    auto lock = std::lock_guard{mutex};
    return outcome ? flushed : outcome;
}

Result<std::map<std::string, std::vector<Read>>> read_all(event::Source& source, std::size_t count,
                                                          Nanos limit) {
    auto all = std::map<std::string, std::vector<Read>>{};
    auto total = std::size_t{0};
    auto until = std::chrono::steady_clock::now() + limit;
    while (total < count && std::chrono::steady_clock::now() < until) {
        auto chunk = TRY(source.read(std::size_t{64} << 10U, std::chrono::milliseconds{200}));
        total += chunk.records.size();
        for (const auto& record : chunk.records) {
            all[chunk.partition].push_back({.number = record.number,
                                            .text = chunk.bytes->substr(record.begin, record.size),
                                            .fault = record.fault});
        }
    }
    return all;
}

std::uint64_t id_in(const Read& read) {
    constexpr auto before = std::string_view{R"("id":")"};
    auto number = std::uint64_t{0};
    auto at = read.text.find(before);
    if (at != std::string::npos) {
        const auto* begin = read.text.data() + at + before.size();
        std::from_chars(begin, read.text.data() + read.text.size(), number);
    }
    return number;
}

} // namespace sluice::connector::nats::testing

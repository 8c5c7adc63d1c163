#include "connector/kafka/testing/reading.h"

#include <algorithm>
#include <future>
#include <thread>

#include <fmt/format.h>

namespace sluice::connector::kafka::testing {

namespace {

Nanos steady() {
    return SystemClock{}.steady();
}

} // namespace

std::vector<Read> read_some(event::Source& source, std::size_t count, Nanos limit,
                            std::size_t bytes_max) {
    auto reads = std::vector<Read>{};
    auto end = steady() + limit;
    while (reads.size() < count && steady() < end) {
        auto chunk = source.read(bytes_max, std::min(Nanos{500ms}, end - steady()));
        if (!chunk) {
            reads.push_back({.fault = "ERROR " + chunk.error().message});
            return reads;
        }
        for (const auto& record : chunk->records) {
            reads.push_back({.partition = chunk->partition,
                             .number = record.number,
                             .text = chunk->bytes->substr(record.begin, record.size),
                             .fault = record.fault,
                             .is_numbered = chunk->is_numbered});
        }
    }
    return reads;
}

bool read_until(event::Source& source, const std::function<bool()>& holds, Nanos limit) {
    auto end = steady() + limit;
    while (!holds()) {
        if (steady() > end || !source.read(1 << 20, 50ms)) {
            return holds();
        }
    }
    return true;
}

std::vector<std::string> texts(const std::vector<Read>& reads) {
    auto found = std::vector<std::string>{};
    std::ranges::transform(reads, std::back_inserter(found), &Read::text);
    return found;
}

std::vector<std::uint64_t> numbers(const std::vector<Read>& reads) {
    auto found = std::vector<std::uint64_t>{};
    std::ranges::transform(reads, std::back_inserter(found), &Read::number);
    return found;
}

std::string event_json(std::uint64_t id, std::size_t bytes) {
    auto json = fmt::format(
        R"({{"specversion":"1.0","id":"{}","source":"/test","type":"t","run":"r{}","data":")", id,
        id % 7);
    json.append(bytes > json.size() + 2 ? bytes - json.size() - 2 : 0, 'x');
    return json + R"("})";
}

std::string send_and_wait(event::Producer& producer, std::string to, std::string json,
                          Nanos limit) {
    auto promise = std::make_shared<std::promise<std::string>>();
    auto outcome = promise->get_future();
    producer.send({.to = std::move(to), .key = "k", .json = std::move(json)},
                  [promise](Result<void> result) {
                      promise->set_value(result ? "" : result.error().message);
                  });
    return outcome.wait_for(limit) == std::future_status::ready ? outcome.get() : "no answer";
}

bool wait_for(const std::function<bool()>& holds, Nanos limit) {
    auto end = steady() + limit;
    while (!holds()) {
        if (steady() > end) {
            return false;
        }
        std::this_thread::sleep_for(5ms);
    }
    return true;
}

} // namespace sluice::connector::kafka::testing

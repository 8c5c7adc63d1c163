#include "server/intake/broker_source.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/fingerprint.h"
#include "reactor/thread.h"
#include "value/json.h"

namespace sluice::server::intake {

namespace {

constexpr auto retry_wait = std::chrono::seconds{1};
constexpr auto retry_wait_max = std::chrono::seconds{30};

/// A source under a name that no other has, and what people may want to know of it.
///
/// Positions are kept under the name. What it reads is part of it: a source that was set up anew to
/// read something else begins there.
class NamedSource final : public event::Source {
public:
    NamedSource(event::Source& source, std::string name, SourceFeed& feed)
        : source_(source), name_(std::move(name)), feed_(feed) {}

    std::string_view name() const override { return name_; }
    Result<std::vector<std::string>> partitions() override {
        auto partitions = TRY(source_.partitions());
        for (auto& partition : partitions) {
            partition = named(partition);
        }
        return partitions;
    }
    Result<void> resume(std::string_view partition, std::uint64_t position) override {
        return source_.resume(own(partition), position);
    }
    void leave(std::string_view partition) override { source_.leave(own(partition)); }
    Result<event::Chunk> read(std::size_t bytes_max, Nanos wait) override {
        auto chunk = TRY(source_.read(bytes_max, wait));
        chunk.partition = named(chunk.partition);
        feed_.note_read(chunk.records.size(), source_.lag(), source_.trouble());
        return chunk;
    }
    void pass_over(std::string_view partition, std::uint64_t number) override {
        source_.pass_over(own(partition), number);
    }
    void confirm(std::string_view partition, std::uint64_t position) override {
        source_.confirm(own(partition), position);
    }

private:
    std::string named(std::string_view partition) const {
        return fmt::format("{}/{}", name_, partition);
    }
    std::string_view own(std::string_view partition) const {
        return partition.substr(std::min(partition.size(), name_.size() + 1));
    }

    event::Source& source_;
    std::string name_;
    SourceFeed& feed_;
};

class RunningBrokerSource final : public RunningSource {
public:
    RunningBrokerSource(const Brokers& brokers, Value form, SourceFeed& feed)
        : brokers_(brokers),
          form_(std::move(form)),
          feed_(feed.shared_from_this()),
          thread_(reactor::start_thread(
              "source", [this](const std::stop_token& stop) { keep_reading(stop); })) {}

    ~RunningBrokerSource() override {
        thread_.request_stop();
        thread_.join();
    }

private:
    void keep_reading(const std::stop_token& stop) {
        auto wait = retry_wait;
        while (!stop.stop_requested()) {
            auto begin = std::chrono::steady_clock::now();
            auto read = read_all(stop);
            if (!read && !stop.stop_requested()) {
                feed_->note_error(read.error().message);
            }
            auto has_worked = std::chrono::steady_clock::now() - begin > retry_wait_max;
            wait = has_worked ? retry_wait : std::min(2 * wait, retry_wait_max);
            auto lock = std::unique_lock{mutex_};
            never_.wait_for(lock, stop, wait, [] { return false; });
        }
    }

    Result<std::uint64_t> read_all(const std::stop_token& stop) {
        auto source = TRY(brokers_.open(feed_->space(), form_));
        // With another password it is still the same source.
        auto print = fingerprint(value::to_json(brokers_.shown(form_)), "");
        auto named = NamedSource{
            *source, fmt::format("source/{}/{:016x}", feed_->full_name(), print.high), *feed_};
        return feed_->read_all(named, stop);
    }

    const Brokers& brokers_;
    Value form_;
    std::shared_ptr<SourceFeed> feed_;
    std::mutex mutex_;
    std::condition_variable_any never_;
    std::jthread thread_;
};

} // namespace

std::optional<Problem> BrokerKind::check(const Value& form) const {
    auto wrong = brokers_.check(form);
    if (wrong.empty()) {
        return std::nullopt;
    }
    return Problem{.status = 400, .code = "invalid_input", .detail = std::move(wrong)};
}

std::unique_ptr<RunningSource> BrokerKind::run(const Value& form, SourceFeed& feed) const {
    return std::make_unique<RunningBrokerSource>(brokers_, form, feed);
}

} // namespace sluice::server::intake

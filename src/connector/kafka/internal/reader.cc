#include "connector/kafka/internal/reader.h"

#include <algorithm>
#include <chrono>

namespace sluice::connector::kafka::internal {

using namespace std::chrono_literals;

namespace {

constexpr auto batch_messages_max = std::size_t{2048};
constexpr auto commit_interval = Nanos{1s};
constexpr auto commit_wait_last = 1000; // ms
constexpr auto probe_interval = Nanos{1s};
constexpr auto probe_wait_max = Nanos{500ms};
/// How long one call waits at most, so that what is due is looked after meanwhile.
constexpr auto poll_wait_max = Nanos{200ms};

} // namespace

Reader::Reader(std::string name, const Options& options, observe::Diagnostics& diag)
    : options_(options), diag_(diag), name_(std::move(name)), batch_(batch_messages_max) {}

Result<void> Reader::connect() {
    client_ = TRY(Client::open(Role::Consumer, options_, diag_, *this));
    rd_kafka_poll_set_consumer(handle());
    queue_.reset(rd_kafka_queue_get_consumer(handle()));
    return {};
}

void Reader::disconnect() {
    if (client_ == nullptr) {
        return;
    }
    auto list = unconfirmed_list();
    if (list->cnt > 0 && trouble_.empty()) {
        auto answers = Queue{rd_kafka_queue_new(handle())};
        rd_kafka_commit_queue(handle(), list.get(), answers.get(), nullptr, nullptr);
        if (auto* event = rd_kafka_queue_poll(answers.get(), commit_wait_last)) {
            rd_kafka_event_destroy(event);
        }
    }
    partitions_.each([](Partition& partition) { partition.drop_waiting(); });
    queue_.reset();
    client_.reset();
}

Result<event::Chunk> Reader::read(std::size_t bytes_max, Nanos wait) {
    auto end = steady_now() + std::max(wait, Nanos{0});
    while (true) {
        if (fault_) {
            return std::unexpected(fault_->error);
        }
        auto chunk = TRY(next_chunk(bytes_max));
        if (!chunk.records.empty()) {
            return chunk;
        }
        look_after(end - steady_now());
        poll(std::max(end - steady_now(), Nanos{0}));
        if (!fault_ && partitions_.first_waiting() == nullptr && steady_now() >= end) {
            return event::Chunk{};
        }
    }
}

Result<event::Chunk> Reader::next_chunk(std::size_t bytes_max) {
    auto* partition = partitions_.first_waiting();
    return partition == nullptr ? event::Chunk{} : take(*partition, bytes_max);
}

event::Chunk Reader::take(Partition& partition, std::size_t bytes_max) {
    while (partition.taken < partition.waiting.size()) {
        auto& message = partition.waiting[partition.taken];
        if (builder_.count() > 0 && builder_.bytes() + message->len > bytes_max) {
            break;
        }
        partition.last = number_of(partition, message->offset);
        partition.next = message->offset + 1;
        message_reader_.add(builder_, partition.last, *message);
        message.reset();
        ++partition.taken;
    }
    has_taken_ = true;
    return builder_.take(partition.text, is_numbered());
}

void Reader::poll(Nanos wait) {
    auto take_batch = [&](Nanos wait_batch, std::size_t count) {
        return rd_kafka_consume_batch_queue(queue_.get(), to_milliseconds(wait_batch),
                                            batch_.data(), count);
    };
    auto count = take_batch(Nanos{0}, batch_.size());
    if (count <= 0) {
        if (std::exchange(has_taken_, false)) {
            client_->wake();
        }
        // For more than one it would wait until all are there.
        count = take_batch(std::min(wait, poll_wait_max), 1);
        sort_in(count);
        count = count > 0 ? take_batch(Nanos{0}, batch_.size()) : 0;
    }
    sort_in(count);
}

void Reader::hear_client() {
    sort_in(rd_kafka_consume_batch_queue(queue_.get(), 0, batch_.data(), batch_.size()));
}

void Reader::sort_in(long count) {
    for (auto at = 0L; at < count; ++at) {
        auto message = Message{batch_[static_cast<std::size_t>(at)]};
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            partitions_.add(std::move(message));
        } else {
            note_failure(*message);
        }
    }
}

void Reader::note_failure(const rd_kafka_message_t& message) {
    auto* partition = message.rkt == nullptr
                          ? nullptr
                          : partitions_.find(rd_kafka_topic_name(message.rkt), message.partition);
    const auto* reason = rd_kafka_message_errstr(&message);
    if (message.err != RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET) {
        on_error(message.err, reason);
        return;
    }
    if (partition != nullptr && partition->is_assigned) {
        stop_behind(*partition, reason);
    }
}

void Reader::stop_behind(const Partition& partition, std::string_view reason) {
    auto low = std::int64_t{0};
    auto high = std::int64_t{0};
    auto held = std::string{"the broker no longer has it"};
    if (rd_kafka_query_watermark_offsets(
            handle(), partition.name.topic.c_str(), partition.name.partition, &low, &high,
            to_milliseconds(probe_wait_max)) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        held = fmt::format("the broker has offsets {} to {}", low, high);
    }
    stop_at(partition, {Errc::NotFound,
                        fmt::format("{} cannot be read on from offset {}: {} ({})", partition.text,
                                    std::max(partition.fetched, std::int64_t{0}), held, reason)});
}

void Reader::stop_at(const Partition& partition, Error error) {
    if (!fault_) {
        fault_ = Fault{.partition = partition.text, .error = std::move(error)};
    }
}

void Reader::forget_fault(const Partition& partition) {
    if (fault_ && fault_->partition == partition.text) {
        fault_.reset();
    }
}

void Reader::on_error(rd_kafka_resp_err_t code, std::string_view reason) {
    if (code == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        return;
    }
    if (code == RD_KAFKA_RESP_ERR__FATAL && !fault_) {
        fault_ = Fault{
            .partition = {},
            .error = {Errc::Internal, fmt::format("the Kafka client cannot go on: {}", reason)}};
    }
    trouble_ = reason.empty() ? rd_kafka_err2str(code) : std::string{reason};
}

void Reader::on_commit(rd_kafka_resp_err_t code) {
    auto is_failing = code != RD_KAFKA_RESP_ERR_NO_ERROR && code != RD_KAFKA_RESP_ERR__NO_OFFSET;
    if (is_failing) {
        // All of it is told again, next time.
        partitions_.each([](Partition& partition) { partition.committed = Partition::none; });
    }
    if (is_failing != std::exchange(is_commit_failing_, is_failing) && is_failing) {
        diag_.warn("the group's position does not follow", {{"source", name_},
                                                            {"group", options_.group_name()},
                                                            {"reason", rd_kafka_err2str(code)}});
    }
}

void Reader::confirm(std::string_view partition, std::uint64_t position) {
    auto* found = partitions_.find(partition);
    if (found == nullptr || !found->is_assigned) {
        return;
    }
    found->confirmed = std::max(found->confirmed, offset_behind(*found, position));
    if (steady_now() >= commit_at_) {
        commit();
    }
}

void Reader::commit() {
    commit_at_ = steady_now() + commit_interval;
    auto list = unconfirmed_list();
    if (list->cnt > 0) {
        rd_kafka_commit(handle(), list.get(), 1);
    }
}

List Reader::unconfirmed_list() {
    auto list = List{rd_kafka_topic_partition_list_new(8)};
    partitions_.each([&](Partition& partition) {
        if (partition.is_assigned && partition.confirmed > partition.committed) {
            auto* entry = rd_kafka_topic_partition_list_add(
                list.get(), partition.name.topic.c_str(), partition.name.partition);
            entry->offset = partition.confirmed;
            partition.committed = partition.confirmed;
        }
    });
    return list;
}

std::optional<std::uint64_t> Reader::lag() {
    auto sum = std::optional<std::uint64_t>{};
    partitions_.each([&](Partition& partition) {
        auto low = std::int64_t{0};
        auto high = std::int64_t{0};
        if (!partition.is_assigned) {
            return;
        }
        if (partition.end != Partition::none) {
            high = partition.end;
        } else if (rd_kafka_get_watermark_offsets(handle(), partition.name.topic.c_str(),
                                                  partition.name.partition, &low,
                                                  &high) != RD_KAFKA_RESP_ERR_NO_ERROR ||
                   high < 0) {
            return;
        }
        auto next = partition.next >= 0 ? partition.next : std::max(low, std::int64_t{0});
        sum = sum.value_or(0) + static_cast<std::uint64_t>(std::max(high - next, std::int64_t{0}));
    });
    return sum;
}

void Reader::look_after(Nanos wait) {
    auto time = steady_now();
    if (time >= commit_at_) {
        commit();
    }
    if (!trouble_.empty() && time >= probe_at_) {
        probe(wait);
    }
    tend(wait);
}

void Reader::probe(Nanos wait) {
    const rd_kafka_metadata_t* metadata = nullptr;
    auto code = rd_kafka_metadata(handle(), 0, nullptr, &metadata,
                                  to_milliseconds(std::clamp(wait, Nanos{20ms}, probe_wait_max)));
    probe_at_ = steady_now() + probe_interval;
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return;
    }
    trouble_.clear();
    for (auto at = 0; at < metadata->topic_cnt; ++at) {
        const auto& topic = metadata->topics[at];
        if (topic.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
            trouble_ = fmt::format("topic {}: {}", topic.topic, rd_kafka_err2str(topic.err));
        }
    }
    rd_kafka_metadata_destroy(metadata);
}

} // namespace sluice::connector::kafka::internal

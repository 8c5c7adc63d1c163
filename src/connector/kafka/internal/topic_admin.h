#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "connector/kafka/internal/client.h"

namespace sluice::connector::kafka::internal {

/// Makes and removes topics. Every call waits for the cluster, for a bounded time.
class TopicAdmin final : private Listener {
public:
    static Result<std::unique_ptr<TopicAdmin>> open(const Options& options,
                                                    observe::Diagnostics& diag);

    /// Until it is there with that many partitions, all of them led. Conflict when it has another
    /// number.
    Result<void> create(const std::string& topic, int partitions);
    /// Until it is gone.
    Result<void> remove(const std::string& topic);
    /// Nothing when there is no such topic.
    Result<std::optional<int>> count_partitions(const std::string& topic);

private:
    explicit TopicAdmin(const Options& options) : options_(options) {}

    struct Shape {
        int partitions = 0;
        bool is_led = true;
    };

    Result<std::optional<Shape>> find(const std::string& topic);
    Result<rd_kafka_resp_err_t> ask_to_create(const std::string& topic, int partitions);
    Error unreachable(rd_kafka_resp_err_t code);
    void on_error(rd_kafka_resp_err_t code, std::string_view reason) override;

    Options options_;
    std::string reason_; ///< Told last.
    std::unique_ptr<Client> client_;
};

} // namespace sluice::connector::kafka::internal

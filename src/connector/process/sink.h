#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "connector/process/function.h"
#include "connector/process/worker_pool.h"
#include "event/sink.h"

namespace sluice::connector::process {

/// Functions that are commands: input as JSON on standard input, result as JSON on standard output.
/// Those with a pool are talked to (WorkerPool); the others are run once for each call.
///
/// Such a command finds the call in its environment: SLUICE_FUNCTION, SLUICE_TASK (the idempotency
/// key), SLUICE_ATTEMPT and SLUICE_TOKEN. Answers come on the runner's thread. Members may be
/// called from any thread.
class Sink final : public event::Sink {
public:
    Sink(const Services& services, Functions functions);
    /// Cancels what still runs; the answers come when the commands have ended.
    ~Sink() override;

    void deliver(event::Delivery delivery, Done done) override;
    void cancel(std::string_view token) override;

private:
    class Running;

    const Services services_;
    const Functions functions_;
    std::map<std::string, std::shared_ptr<WorkerPool>, std::less<>> pools_;
    // Shared with the outcomes to come, which may outlive this.
    std::shared_ptr<Running> running_;
};

} // namespace sluice::connector::process

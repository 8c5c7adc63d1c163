#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "event/sink.h"
#include "reactor/process_runner.h"

namespace sluice::connector::process {

/// A command that is run once for each call.
struct Function {
    std::vector<std::string> argv{};
    std::vector<std::pair<std::string, std::string>> environment{};
    std::string directory{}; ///< Empty: where the server runs.
    Nanos timeout{0};        ///< Where the call has none; zero: never.
};

using Functions = std::map<std::string, Function, std::less<>>;

/// Functions that are commands: input as JSON on standard input, result as JSON on standard output.
///
/// The command finds the call in its environment: SLUICE_FUNCTION, SLUICE_TASK (the idempotency
/// key), SLUICE_ATTEMPT and SLUICE_TOKEN. Answers come on the runner's thread. Members may be
/// called from any thread.
class Sink final : public event::Sink {
public:
    /// The runner must outlive it.
    Sink(reactor::ProcessRunner& runner, Functions functions);
    /// Cancels what still runs; the answers come when the commands have ended.
    ~Sink() override;

    void deliver(event::Delivery delivery, Done done) override;
    void cancel(std::string_view token) override;

private:
    class Running;

    reactor::ProcessRunner& runner_;
    const Functions functions_;
    // Shared with the outcomes to come, which may outlive this.
    std::shared_ptr<Running> running_;
};

} // namespace sluice::connector::process

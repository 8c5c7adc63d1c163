#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "event/sink.h"
#include "reactor/worker_pool.h"
#include "sluice/functions.h"
#include "sluice/serve/function_registry.h"

namespace sluice::app {

/// The functions that tasks bring along, `script` and `http`: found by the definition that their
/// run is pinned to, so that each version has its own.
///
/// It stands for every function that is not there by name; what no definition has brings the error
/// `unknown_function`. Shared with the engine; may be used from any thread.
class TaskFunctions final : public event::Sink, public std::enable_shared_from_this<TaskFunctions> {
public:
    /// All of them outlive its use.
    TaskFunctions(Functions& functions, FunctionLimits limits)
        : functions_(functions), limits_(limits) {}

    /// Calls wait for this. The engine outlives its use.
    void attach(engine::Engine& engine);
    /// Reads no definitions any more, before what it stands on goes.
    void stop() { loader_.stop(); }

    void deliver(event::Delivery delivery, Done done) override;
    void cancel(std::string_view token) override;
    bool heartbeat(std::string_view token, std::uint64_t lease) override;

private:
    using ByName = std::map<std::string, std::shared_ptr<event::Sink>, std::less<>>;

    struct Call {
        event::Delivery delivery;
        Done done;
    };

    using CallRef = std::shared_ptr<Call>;

    void find_definition(const CallRef& call);
    void call_of(const std::string& definition, const CallRef& call);
    void load(const std::string& definition);
    Result<ByName> read(const std::string& definition) const;
    /// Answers it when there is no such function.
    void deliver_to(const Result<std::shared_ptr<event::Sink>>& sink, Call& call);
    static Result<std::shared_ptr<event::Sink>> find(const ByName& loaded,
                                                     std::string_view function);

    Functions& functions_;
    const FunctionLimits limits_;
    std::mutex mutex_; ///< Of what follows.
    engine::Engine* engine_ = nullptr;
    std::vector<CallRef> early_;                          ///< Came before there was an engine.
    std::map<std::string, ByName> loaded_;                ///< By the hash of the definition.
    std::map<std::string, std::vector<CallRef>> waiting_; ///< For it to be loaded.
    /// Under way, by token; null: its function is being looked for.
    std::map<std::string, std::shared_ptr<event::Sink>, std::less<>> calls_;
    /// Reading a definition takes longer than who decides may wait. Goes first.
    reactor::WorkerPool loader_{"definitions", {.threads = 1}};
};

} // namespace sluice::app

#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cluster/node.h"
#include "engine/engine.h"
#include "engine/references.h"
#include "observe/diagnostic_lines.h"
#include "secret/secrets.h"
#include "sluice/functions.h"
#include "sluice/integrations.h"
#include "sluice/languages.h"
#include "store/objects/objects.h"
#include "store/store.h"
#include "trigger/trigger_set.h"

namespace sluice::app {

/// What bounds decisions, here and when they are decided again.
inline constexpr auto decide_limits = trigger::DecideLimits{};

struct SessionOptions {
    std::filesystem::path data; ///< Not used when nothing is to survive.
    std::string store{};        ///< A URL; empty: the embedded store in the data directory.
    store::Durability durability = store::Durability::Strict;
    /// Given: the store is shared with other processes, and events come by a bus.
    struct Shared {
        std::string bus;     ///< Its URL.
        std::string address; ///< Where the others reach this process.
        cluster::Role role = cluster::Role::Worker;
        Nanos lease = cluster::NodeOptions{}.lease;
    };
    std::optional<Shared> shared{};
    std::uint32_t threads = 1;
    observe::Format diagnostics = observe::Format::Text;
    std::vector<workflow::raw::FunctionForm> functions;
    Integrations integrations;
    std::optional<Simulation> simulation;     ///< Given: functions are not called but simulated.
    const secret::Secrets* secrets = nullptr; ///< That functions refer to; null: there are none.
    /// Whether who wrote the definitions may do what the operator may: then the functions they
    /// declare are there too, may reach every address, and nobody answers them later.
    bool trusts_definitions = true;
    bool allows_private = false; ///< Requests of state machines may go to private addresses.
    std::size_t result_bytes_max = engine::EngineOptions{}.result_bytes_max;
    /// Sees the store and the functions before the engine is opened on them.
    std::function<Result<void>(store::Store&, Functions&)> prepare;
    std::string run; ///< Its functions are there too, though it may have ended; empty: none.
    bool calls_functions = true; ///< Otherwise calls are left for the next session.
    engine::Watch watch;
    engine::AdmitNested admit_nested; ///< Empty: every nested run begins.
    engine::Catalog::FindMeaning find_meaning{};
    observe::Metrics* metrics = nullptr; ///< Where times are told; null: nowhere.
    std::function<void(const Error&)> on_stop;
};

/// An engine with everything it stands on, put together and taken apart in the right order.
class Session {
public:
    /// Runs that were interrupted continue from here on, with the functions that their definitions
    /// declared.
    static Result<std::unique_ptr<Session>> open(SessionOptions options);
    ~Session();

    engine::Engine& engine() { return *engine_; }
    /// Null where no store is shared.
    cluster::Node* node() { return node_.get(); }
    store::Store& store() { return *store_; }
    const engine::References& references() const { return *references_; }
    Functions& functions() { return *functions_; }
    /// Of functions of kind `poll`, also those that other processes have called.
    connector::poll::Desk& tasks() { return *tasks_; }
    const trigger::Vocabulary& vocabulary() const { return vocabulary_; }
    void set_level(observe::Level least) { diagnostics_.set_least(least); }
    /// Stops the engine and whatever functions still do. What was taken is durable; the store can
    /// still be read.
    void stop();

private:
    explicit Session(observe::Format diagnostics)
        : diagnostics_(clock_, diagnostics, observe::Level::Warn) {}

    SystemClock clock_;
    observe::DiagnosticLines diagnostics_;
    trigger::Vocabulary vocabulary_;
    std::unique_ptr<store::Store> store_;
    std::unique_ptr<store::Objects> objects_;
    std::optional<engine::References> references_;
    std::unique_ptr<cluster::Node> node_;
    std::unique_ptr<engine::Engine> engine_;
    connector::poll::Desk* tasks_ = nullptr;
    std::unique_ptr<Functions> functions_; // Goes first: its last answers find the engine, stopped.
};

/// Fails with NotFound when there is no such directory, which opening a session would make.
Result<void> check_directory(const std::filesystem::path& data);

/// What a data directory holds, for commands that only look. Fails with NotFound when there is
/// none, with Conflict when another process has it open.
Result<std::unique_ptr<store::Store>> open_to_read(const std::filesystem::path& data);

} // namespace sluice::app

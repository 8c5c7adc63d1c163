#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/keys.h"
#include "server/stepfunctions/internal/operation.h"
#include "server/stepfunctions/state_machine.h"
#include "trigger/history.h"
#include "trigger/state.h"
#include "workflow/asl/resource_names.h"

namespace sluice::server::stepfunctions {

std::string_view status_of(trigger::Status status);
/// Which runs `statusFilter` means.
trigger::Status status_named(std::string_view name);

/// A run that was found, as inspect::progress_view tells of it.
struct Seen {
    engine::RunName run;
    Value view;
    std::string child{}; ///< Name of the child of a distributed Map that is meant; empty: the run.

    std::string machine() const { return text_in(view, "definition"); }
    std::string name() const { return workflow::asl::execution_name(machine(), run.id); }
    /// SUCCEEDED and the like.
    std::string_view status() const;
};
/// Fails with ExecutionDoesNotExist. Of a child of a distributed Map the run is found, and not
/// whether that has such a child.
using Sighted = std::function<void(std::expected<Seen, Fault>)>;
void find_execution(World& world, const std::string& space, const Arn& arn, Sighted then);
/// Fails with InvalidArn too, also for an execution that is express: those are not looked at later.
void find_execution(World& world, const Call& call, Sighted then);

std::unexpected<Fault> no_execution(std::string_view arn);

/// The events of its history, as `workflow::asl::History` tells them. Blocks: the run is decided
/// again.
std::expected<std::vector<Value>, Fault> history_of(const World& world, const Seen& seen);
/// Decides a run again while somebody listens: its state as it is now. Blocks.
std::expected<std::unique_ptr<trigger::RunState>, Fault> decide_again(const World& world,
                                                                      const engine::RunName& run,
                                                                      trigger::Listener& listener);
/// Finds an execution and answers on a worker with what is made of it.
using MakeAnswer = std::function<Answer(World&, const Call&, const Seen&)>;
void answer_of_execution(World& world, const Call& call, const Arn& arn, const Responder& respond,
                         MakeAnswer make);
void answer_on_worker(World& world, const Call& call, const Seen& seen, const Responder& respond,
                      MakeAnswer make);

/// `output`, or `error` and `cause`, of one that has ended.
Value with_outcome(Value view, const Seen& seen, const Value& result);
Value with_end(Value view, const Value& end);

} // namespace sluice::server::stepfunctions

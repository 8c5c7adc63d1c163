#include "workflow/asl/map_runs.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "value/wording.h"

namespace sluice::workflow::asl {

namespace {

using value::text_at;

std::uint64_t number_at(const Value& told, std::string_view name) {
    const auto* found = told.find(name);
    return found != nullptr && found->is_int() ? static_cast<std::uint64_t>(found->as_int()) : 0;
}

/// Where executions of a status are counted.
std::uint64_t* count_of(MapRunCounts& counts, std::string_view status) {
    return status == "RUNNING"     ? &counts.running
           : status == "SUCCEEDED" ? &counts.succeeded
           : status == "FAILED"    ? &counts.failed
           : status == "ABORTED"   ? &counts.aborted
                                   : nullptr;
}

void move_child(MapRun& run, ChildExecution& child, std::string status) {
    for (auto [counts, many] :
         {std::pair{&run.executions, std::uint64_t{1}}, {&run.items, child.items}}) {
        if (auto* before = count_of(*counts, child.status)) {
            *before -= many;
        }
        if (auto* after = count_of(*counts, status)) {
            *after += many;
        }
    }
    child.status = std::move(status);
}

void abort_rest(MapRun& run, std::optional<Time> at) {
    for (auto& child : run.children) {
        if (child.status == "RUNNING") {
            move_child(run, child, "ABORTED");
            child.ended = at;
        }
    }
}

std::string_view end_named(std::string_view type) {
    return type == "MapRunSucceeded" ? "SUCCEEDED"
           : type == "MapRunFailed"  ? "FAILED"
           : type == "MapRunAborted" ? "ABORTED"
                                     : "";
}

} // namespace

std::uint64_t MapRunCounts::pending() const {
    auto begun = running + succeeded + failed + aborted;
    return total - std::min(total, begun);
}

void MapRuns::hear(const trigger::Moment& moment, const Value& told) {
    auto type = text_at(told, "type");
    if (type == "MapRunStarted") {
        runs_.push_back({.arn = text_at(*told.find("details"), "mapRunArn"),
                         .event = number_at(told, "id"),
                         .started = moment.time});
        return;
    }
    if (auto end = end_named(type); !end.empty()) {
        // The event before is that of its start.
        auto run = std::ranges::find(runs_, number_at(told, "previousEventId"), &MapRun::event);
        if (run != runs_.end()) {
            run->status = end;
            run->ended = moment.time;
            abort_rest(*run, run->ended);
        }
        return;
    }
    auto run = std::ranges::find(runs_, text_at(told, "mapRun"), &MapRun::arn);
    if (run == runs_.end()) {
        return;
    }
    if (told.find("index") != nullptr) {
        hear_child(*run, moment, told);
    } else if (told.find("written") != nullptr) {
        run->is_written = true;
    } else {
        run->concurrency_max = static_cast<std::int64_t>(number_at(told, "maxConcurrency"));
        run->tolerated_count = static_cast<std::int64_t>(number_at(told, "toleratedFailureCount"));
        run->tolerated_percentage = told.find("toleratedFailurePercentage")->as_double();
        run->executions.total = number_at(told, "executions");
        run->items.total = number_at(told, "items");
    }
}

void MapRuns::hear_child(MapRun& run, const trigger::Moment& moment, const Value& told) {
    auto index = number_at(told, "index");
    if (index >= run.children.size()) {
        run.children.resize(index + 1);
    }
    auto& child = run.children[index];
    auto status = text_at(told, "status");
    if (status == "RUNNING") {
        child.name = text_at(told, "name");
        child.started = moment.time;
        child.items = number_at(told, "items");
    } else {
        child.ended = moment.time;
    }
    move_child(run, child, std::move(status));
}

void MapRuns::close(const trigger::RunProgress& progress) {
    for (auto& run : runs_) {
        if (run.status == "RUNNING" && progress.status != trigger::Status::Running &&
            progress.status != trigger::Status::Queued) {
            run.status = "ABORTED";
            run.ended = progress.ended;
            abort_rest(run, run.ended);
        }
    }
}

} // namespace sluice::workflow::asl

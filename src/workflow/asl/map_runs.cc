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
    return status == "RUNNING"           ? &counts.running
           : status == "SUCCEEDED"       ? &counts.succeeded
           : status == "FAILED"          ? &counts.failed
           : status == "ABORTED"         ? &counts.aborted
           : status == "PENDING_REDRIVE" ? &counts.pending_redrive
                                         : nullptr;
}

/// Of `arn:aws:states:…:mapRun:MACHINE/LABEL:NAME`.
std::string machine_in(std::string_view map_run) {
    map_run = map_run.substr(0, map_run.rfind(':'));
    return std::string{map_run.substr(map_run.rfind(':') + 1)};
}

/// Of a history whose beginning is gone, some were never heard of.
void take_off(std::uint64_t& count, std::uint64_t many) {
    count -= std::min(count, many);
}

void move_child(MapRunCounts& counts, const Value& told, std::uint64_t many) {
    auto status = text_at(told, "status");
    if (told.find("again") != nullptr) {
        take_off(counts.pending_redrive, many);
    } else if (status != "RUNNING") {
        take_off(counts.running, many);
    }
    if (auto* count = count_of(counts, status)) {
        *count += many;
    }
    counts.not_redrivable += told.find("lost") != nullptr ? many : 0;
}

void abort_rest(MapRun& run) {
    for (auto* counts : {&run.executions, &run.items}) {
        counts->aborted += std::exchange(counts->running, 0);
        // Those that were to go on have not.
        counts->failed += std::exchange(counts->pending_redrive, 0);
    }
}

/// Those that a redrive goes on with wait for their turn.
void begin_again(MapRunCounts& counts) {
    auto ended = counts.failed + counts.aborted + std::exchange(counts.running, 0);
    counts.failed = std::min(ended, counts.not_redrivable);
    counts.aborted = 0;
    counts.pending_redrive = ended - counts.failed;
}

std::string_view end_named(std::string_view type) {
    return type == "MapRunSucceeded" ? "SUCCEEDED"
           : type == "MapRunFailed"  ? "FAILED"
           : type == "MapRunAborted" ? "ABORTED"
                                     : "";
}

} // namespace

std::uint64_t MapRunCounts::pending() const {
    auto begun = running + succeeded + failed + aborted + pending_redrive;
    return total - std::min(total, begun);
}

void MapRuns::hear(const trigger::Moment& moment, const Value& told) {
    if (!child_.empty() && text_at(told, "name") == child_) {
        child_machine_ = machine_in(text_at(told, "mapRun"));
    }
    if (text_at(told, "execution") != child_) {
        return;
    }
    if (told.find("id") != nullptr) {
        hear_event(moment, told);
        return;
    }
    auto run = std::ranges::find(runs_, text_at(told, "mapRun"), &MapRun::arn);
    if (run == runs_.end()) {
        return;
    }
    if (told.find("index") != nullptr) {
        move_child(run->executions, told, 1);
        move_child(run->items, told, number_at(told, "items"));
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

void MapRuns::hear_event(const trigger::Moment& moment, const Value& told) {
    auto type = text_at(told, "type");
    if (type == "MapRunStarted") {
        runs_.push_back({.arn = text_at(*told.find("details"), "mapRunArn"),
                         .event = number_at(told, "id"),
                         .started = moment.time});
    } else if (type == "MapRunRedriven") {
        const auto& details = *told.find("details");
        auto run = std::ranges::find(runs_, text_at(details, "mapRunArn"), &MapRun::arn);
        if (run != runs_.end()) {
            run->event = number_at(told, "id");
            run->status = "RUNNING";
            run->ended.reset();
            run->redrives = number_at(details, "redriveCount");
            run->redriven = moment.time;
            run->is_written = false;
            begin_again(run->executions);
            begin_again(run->items);
        }
    } else if (auto end = end_named(type); !end.empty()) {
        // The event before is that of its start.
        auto run = std::ranges::find(runs_, number_at(told, "previousEventId"), &MapRun::event);
        if (run != runs_.end()) {
            run->status = end;
            run->ended = moment.time;
            abort_rest(*run);
        }
    }
}

void MapRuns::close(const trigger::RunProgress& progress) {
    for (auto& run : runs_) {
        if (run.status == "RUNNING" && progress.status != trigger::Status::Running &&
            progress.status != trigger::Status::Queued) {
            run.status = "ABORTED";
            run.ended = progress.ended;
            abort_rest(run);
        }
    }
}

} // namespace sluice::workflow::asl

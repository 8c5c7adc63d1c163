#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "trigger/arrival.h"
#include "workflow/asl/compile.h"
#include "workflow/asl/internal/run/json_bytes.h"
#include "workflow/asl/internal/run/map_fields.h"
#include "workflow/asl/internal/run/walk.h"
#include "workflow/asl/internal/run/words.h"
#include "workflow/asl/result_files.h"

// What becomes of the results of distributed maps.
namespace sluice::workflow::asl::internal::run {

/// What cannot be a payload any more is not kept for one.
void Walk::keep_result(Fan& fan, std::uint64_t index, Value result) {
    auto is_written = writes_objects(fan);
    auto most = is_written ? part_bytes_max : program_.limits.payload_bytes_max;
    fan.bytes += json_bytes(result, most) + 1;
    if (is_written || fan.bytes < most) {
        collect(fan, index, std::move(result));
        return;
    }
    fan.held.clear();
    if (fan.scope) {
        firing_.record(
            trigger::CollectionDropped{.scope = *fan.scope, .trigger = trigger_of(fan.visit)});
    }
}

/// Records that wait to be written lie apart from those that are being written, which stay until
/// they are: a redrive may have to write them again.
trigger::TriggerNumber Walk::collector_of(const Fan& fan, std::uint64_t slot) const {
    return slot == 0 ? trigger_of(fan.visit)
                     : trigger::TriggerNumber{
                           static_cast<std::uint32_t>(program_.machine_trigger().raw() + slot)};
}

/// Records that are collected there, with the names of their executions.
std::vector<Value> Walk::records_in(const Fan& fan, std::uint64_t slot) const {
    auto records = std::vector<Value>{};
    auto map_run = fmt::format("{}-{}", execution_of(fan.visit.frame), fan.started);
    each_collected(state(), *fan.scope, collector_of(fan, slot),
                   [&](std::uint64_t index, const Value& record) {
                       records.push_back(record.with("name", fmt::format("{}-{}", map_run, index)));
                       return true;
                   });
    return records;
}

/// Bucket and prefix, evaluated once.
Evaluated<Value> Walk::destination_of(Fan& fan) {
    if (fan.destination.is_null()) {
        auto view = View{*this, fan.visit};
        auto arguments = map_state(fan).writer->arguments->evaluate(view.of(fan.input),
                                                                    "ResultWriter/Arguments");
        if (!arguments) {
            return std::unexpected(explained(fan.visit, std::move(arguments.error())));
        }
        fan.destination = *std::move(arguments);
        open(fan);
        firing_.record(trigger::VariablesSet{.path = path_of(*fan.scope), .variables = fan.plan()});
    }
    return fan.destination;
}

Value Walk::part_request(const Fan& fan, std::uint64_t slot) const {
    auto numbers = std::vector<Value>{};
    for (auto number : fan.parts.at(slot)) {
        numbers.push_back(as_value(number));
    }
    return Value::object({{"arguments", fan.destination},
                          {"config", map_state(fan).writer->config},
                          {"mapRunArn", map_run_arn(fan)},
                          {"name", map_run_id(fan)},
                          {"machine", arn_of(program_, "stateMachine", map_machine(fan))},
                          {"execution", arn_of(program_, "execution", map_machine(fan))},
                          {"numbers", Value::list(std::move(numbers))},
                          {"part", as_value(slot)},
                          {"records", Value::list(records_in(fan, slot))}});
}

Evaluated<void> Walk::write_part(Fan& fan, bool is_last) {
    std::ignore = TRY(destination_of(fan));
    open(fan);
    auto slot = fan.slot;
    fan.parts[slot] = fan.files;
    auto request = part_request(fan, slot);
    for (auto at = std::size_t{0}; at < fan.files.size(); ++at) {
        fan.files[at] += std::ranges::any_of(
            request.find("records")->as_list(),
            [&](const Value& record) { return result_kind_of(record) == result_kinds[at]; });
    }
    ++fan.writes;
    fan.bytes = 0;
    for (fan.slot = 0; fan.parts.contains(fan.slot);) {
        ++fan.slot;
    }
    fan.is_closing = is_last;
    store(fan);
    if (is_last) {
        auto files =
            Value::list({as_value(fan.files[0]), as_value(fan.files[1]), as_value(fan.files[2])});
        request = request.with("close", true).with("files", std::move(files));
    }
    call_own(fan, results_function, std::move(request));
    return {};
}

Step Walk::take_written(Fan& fan, const Value& data) {
    if (firing_.event().type() != trigger::types::task_succeeded) {
        const auto* error = data.find("error");
        return break_off(fan, fan.visit.frame.last,
                         {.error = std::string{errors::result_writer},
                          .cause = error == nullptr ? "" : value::text_at(*error, "message")});
    }
    --fan.writes;
    const auto& result = *data.find("result");
    if (auto slot = count_at(result, "part"); fan.parts.erase(slot) > 0) {
        firing_.record(
            trigger::CollectionDropped{.scope = *fan.scope, .trigger = collector_of(fan, slot)});
    }
    if (!fan.is_closing) {
        return run_children(fan);
    }
    if (listener_ != nullptr && fan.visit.frame.tally->is_heard()) {
        hear_of_run(*fan.visit.frame.tally,
                    Value::object({{"mapRun", map_run_arn(fan)}, {"written", true}}));
    }
    if (!fan.failure.is_null()) {
        return break_off(fan, fan.visit.frame.last, failure_from(fan.failure));
    }
    return finish(fan, Value::object({{"MapRunArn", map_run_arn(fan)},
                                      {"ResultWriterDetails", result.without("part")}}));
}

} // namespace sluice::workflow::asl::internal::run

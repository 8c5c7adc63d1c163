#include <algorithm>
#include <charconv>
#include <utility>

#include "server/stepfunctions/internal/executions.h"
#include "server/stepfunctions/internal/machines.h"
#include "value/json.h"

// GetExecutionHistory: the run is decided again, and its language tells of it.
namespace sluice::server::stepfunctions {

namespace {

/// Members of details that are payloads: told as JSON text, and left out for who wants none.
constexpr std::string_view payloads[] = {"input", "output", "parameters"};

/// `passStateEntered` and its like share their details.
std::string details_name(std::string_view type) {
    for (auto shared : {std::string_view{"StateEntered"}, std::string_view{"StateExited"}}) {
        if (type.ends_with(shared)) {
            type = shared;
        }
    }
    auto name = fmt::format("{}EventDetails", type);
    name.front() = static_cast<char>(name.front() | 0x20);
    return name;
}

Value details_view(const Value& details, bool has_data) {
    auto view = std::vector<value::Member>{};
    for (const auto& [name, value] : details.as_map()) {
        auto is_payload = std::ranges::find(payloads, name) != std::end(payloads);
        if (!is_payload) {
            view.push_back({name, value});
        } else if (name == "parameters") { // Told whether or not data is wanted.
            view.push_back({name, value::to_json(value)});
        } else if (has_data) {
            view.push_back({name, value::to_json(value)});
            view.push_back({name + "Details", Value::object({{"truncated", false}})});
        }
    }
    return Value::map(std::move(view));
}

Value event_view(const Value& event, const std::string& role, bool has_data) {
    auto type = text_in(event, "type");
    auto time = value_in(event, "timestamp");
    auto view = Value::object(
        {{"timestamp", seconds_of(time.is_timestamp() ? time.as_timestamp() : Time{})},
         {"type", type},
         {"id", value_in(event, "id")},
         {"previousEventId", value_in(event, "previousEventId")}});
    auto details = value_in(event, "details");
    if (!details.is_map()) {
        return view;
    }
    auto told = details_view(details, has_data);
    if (type == "ExecutionStarted") {
        told = told.with("roleArn", role);
    }
    return view.with(details_name(type), std::move(told));
}

Answer history_page(const World& world, const Call& call, const Seen& seen) {
    auto page = TRY(Page::read(call.body, "history"));
    auto events = TRY(history_of(world, seen));
    if (events.empty() && !seen.child.empty()) {
        return no_execution(text_in(call.body, "executionArn"));
    }
    auto from = std::size_t{0};
    std::from_chars(page.after.data(), page.after.data() + page.after.size(), from);
    if (flag_in(call.body, "reverseOrder")) {
        std::ranges::reverse(events);
    }
    auto machine = find_machine(world, call.space, seen.machine());
    auto role = machine ? machine->role : std::string{};
    auto has_data = flag_in(call.body, "includeExecutionData", true);
    auto listed = std::vector<Value>{};
    auto end = std::min(events.size(), from + page.most);
    for (auto at = from; at < end; ++at) {
        listed.push_back(event_view(events[at], role, has_data));
    }
    auto view = Value::object({{"events", Value::list(std::move(listed))}});
    return end < events.size() ? view.with("nextToken", page_token("history", std::to_string(end)))
                               : view;
}

void get_history(World& world, const Call& call, const Responder& respond) {
    auto arn = Arn::parse(text_in(call.body, "executionArn"), Arn::Kind::Execution);
    if (!arn) {
        respond(std::unexpected(arn.error()));
        return;
    }
    answer_of_execution(world, call, *arn, respond, history_page);
}

} // namespace

std::vector<Operation> history_operations() {
    auto flag = [](std::string_view name) {
        return Parameter{.name = name, .kind = Parameter::Kind::Flag};
    };
    return {{"GetExecutionHistory", reads,
             with_page({arn_parameter("executionArn"), flag("reverseOrder"),
                        flag("includeExecutionData")}),
             get_history}};
}

} // namespace sluice::server::stepfunctions

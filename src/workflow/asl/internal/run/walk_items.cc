#include <algorithm>
#include <utility>

#include "trigger/arrival.h"
#include "value/wording.h"
#include "workflow/asl/compile.h"
#include "workflow/asl/internal/data_flow.h"
#include "workflow/asl/internal/run/json_bytes.h"
#include "workflow/asl/internal/run/walk.h"
#include "workflow/asl/internal/run/words.h"

namespace sluice::workflow::asl::internal::run {

namespace {

const MapState& map_of(const Fan& fan) {
    return std::get<MapState>(fan.visit.state.details);
}

Failure reading_failed(std::string cause) {
    return {.error = std::string{errors::item_reader}, .cause = std::move(cause)};
}

} // namespace

/// What the children are: the items, or batches of them.
Evaluated<void> Walk::take_items(Fan& fan, const Value& items, bool is_last) {
    fan.base = fan.size;
    if (map_of(fan).batcher) {
        return batch_items(fan, items, is_last);
    }
    fan.items = items;
    fan.size += items.size();
    return {};
}

Evaluated<void> Walk::batch_items(Fan& fan, const Value& items, bool is_last) {
    const auto& batcher = *map_of(fan).batcher;
    auto view = View{*this, fan.visit};
    auto sight = view.of(fan.input);
    auto most = batcher.items_max.is_given()
                    ? TRY(read_count(batcher.items_max, "MaxItemsPerBatch", sight))
                    : std::numeric_limits<std::int64_t>::max();
    auto bytes_max = batcher.bytes_max.is_given()
                         ? TRY(read_count(batcher.bytes_max, "MaxInputBytesPerBatch", sight))
                         : static_cast<std::int64_t>(program_.limits.payload_bytes_max);
    auto input =
        batcher.input ? TRY(batcher.input->evaluate(sight, "ItemBatcher/BatchInput")) : Value{};
    auto batches = std::vector<Value>{};
    auto bytes = std::size_t{0};
    auto close = [&] {
        auto batch = Value::object({{"Items", Value::list(std::exchange(fan.rest, {}))}});
        batches.push_back(input.is_null() ? batch : batch.with("BatchInput", input));
        bytes = 0;
    };
    for (const auto& each : fan.rest) {
        bytes += json_bytes(each, program_.limits.payload_bytes_max) + 1;
    }
    fan.items = items; // The selector looks at each.
    fan.are_inputs = false;
    auto first = fan.read - (fan.request.is_null() ? 0 : items.size());
    for (auto at = std::uint64_t{0}; at < items.size(); ++at) {
        auto child = Frame{.item = {}, .variables = {}};
        child.index = fan.base + at;
        child.item = item_of(fan, child.index).with("Index", as_value(first + at));
        auto selected = TRY(child_input(fan, child));
        auto size = json_bytes(selected, program_.limits.payload_bytes_max) + 1;
        if (!fan.rest.empty() && bytes + size > static_cast<std::size_t>(bytes_max)) {
            close();
        }
        fan.rest.push_back(std::move(selected));
        bytes += size;
        if (fan.rest.size() >= static_cast<std::size_t>(most)) {
            close();
        }
    }
    if (is_last && !fan.rest.empty()) {
        close();
    }
    fan.are_inputs = true;
    fan.size += batches.size();
    fan.items = Value::list(std::move(batches));
    return {};
}

Evaluated<void> Walk::prepare_reader(Fan& fan, const Sight& sight) {
    const auto& reader = *map_of(fan).reader;
    auto arguments = reader.arguments
                         ? TRY(reader.arguments->evaluate(sight, "ItemReader/Arguments"))
                         : Value::map({});
    if (reader.items_max.is_given()) {
        auto most = TRY(read_integer(reader.items_max, "MaxItems", sight));
        if (most < 0) {
            return std::unexpected(reading_failed("field MaxItems must be positive"));
        }
        fan.items_max = static_cast<std::uint64_t>(most);
    }
    fan.request = Value::object(
        {{"resource", reader.resource}, {"arguments", arguments}, {"config", reader.config}});
    return {};
}

Step Walk::ask_for_page(Fan& fan) {
    fan.is_reading = true;
    store(fan);
    firing_.record(trigger::VariablesSet{.path = path_of(*fan.scope), .variables = fan.plan()});
    auto request = fan.request;
    if (!fan.cursor.is_null()) {
        request = request.with("cursor", fan.cursor);
    }
    if (fan.items_max > 0) {
        request = request.with("most", as_value(fan.items_max - fan.read));
    }
    call_own(fan, items_function, std::move(request));
    return {};
}

/// A function that stands for the object store.
void Walk::call_own(const Fan& fan, std::string_view function, Value request) {
    firing_.record(trigger::TaskOpened{
        .key = firing_.next_key(),
        .task = trigger::TaskState{.target = std::string{function},
                                   .subject = handle_of(machine(), fan.visit.number),
                                   .input = std::move(request),
                                   .scope = *fan.visit.frame.scope,
                                   .trigger = trigger_of(fan.visit)}});
}

Step Walk::take_page(Visit& visit) {
    auto fan = Fan{visit};
    load_fan(fan);
    auto data = firing_.event().data();
    if (value::text_at(data, "function") == results_function) {
        return take_written(fan, data);
    }
    if (firing_.event().type() != trigger::types::task_succeeded) {
        const auto* error = data.find("error");
        return break_off(fan, visit.frame.last,
                         reading_failed(error == nullptr ? "" : value::text_at(*error, "message")));
    }
    fan.is_reading = false;
    const auto& page = *data.find("result");
    const auto& items = *page.find("items");
    const auto* cursor = page.find("cursor");
    fan.read += items.size();
    auto is_last = cursor == nullptr || (fan.items_max > 0 && fan.read >= fan.items_max);
    fan.cursor = is_last ? Value{} : *cursor;
    fan.are_pairs = page.find("pairs") != nullptr;
    if (auto taken = take_items(fan, items, is_last); !taken) {
        auto before = Fan{visit}; // A redrive asks for the page again.
        load_fan(before);
        return break_off(before, visit.frame.last, explained(visit, std::move(taken.error())));
    }
    firing_.record(trigger::VariablesSet{.path = path_of(*fan.scope), .variables = fan.plan()});
    hear_limits(fan);
    return run_children(fan);
}

} // namespace sluice::workflow::asl::internal::run

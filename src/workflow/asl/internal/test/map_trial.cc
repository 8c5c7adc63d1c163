#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/result.h"
#include "value/json.h"
#include "workflow/asl/internal/test/state_trial.h"

// What a Map state does before its iterations, and whether too many of them fail.
namespace sluice::workflow::asl::internal {

namespace {

/// `$$` in an ItemSelector: the context with the item.
Value with_item(const Value& context, std::size_t index, const Value& key, const Value& value) {
    auto item = Value::object({{"Index", static_cast<std::int64_t>(index)}, {"Value", value}});
    if (!key.is_null()) {
        item = item.with("Key", key);
    }
    return context.with("Map", Value::object({{"Item", std::move(item)}}));
}

/// A path of the context object as one from that: `$$.Execution` is `$.Execution`.
std::string_view within(std::string_view path) {
    return path.starts_with("$$") ? path.substr(1) : path;
}

/// Where a JSON pointer leads, or null.
const Value* at_pointer(const Value& value, std::string_view pointer) {
    const auto* at = &value;
    while (at != nullptr && pointer.starts_with('/')) {
        pointer.remove_prefix(1);
        auto name = std::string{pointer.substr(0, pointer.find('/'))};
        pointer.remove_prefix(name.size());
        at = at->find(name);
    }
    return at;
}

} // namespace

Flow<void> StateTrial::begin_map() {
    const auto& map = std::get<MapState>(state_.details);
    auto data = TRY(input_data());
    auto sight = sight_of(data);
    TRY(read_map_items(map, sight));
    TRY(read_limits(map, sight));
    const auto* result = std::get_if<Value>(&test_.mock->outcome);
    auto count = items_ ? *items_ : result != nullptr ? result->size() : 0;
    if (test_.failed_iterations && (items_ || result != nullptr) &&
        *test_.failed_iterations > count) {
        problem_ = StateTestProblem{"ValidationException",
                                    "Map iteration failure count must be less than or equal to the "
                                    "number of Map iterations"};
    }
    return {};
}

Flow<void> StateTrial::read_map_items(const MapState& map, const Sight& sight) {
    auto items = Value{};
    if (map.reader) {
        if (map.reader->arguments) {
            TRY(map.reader->arguments->evaluate(sight, "ItemReader"));
        }
        if (!test_.reader_items) {
            return {};
        }
        items = *test_.reader_items;
        if (const auto* pointer = map.reader->config.find("ItemsPointer");
            pointer != nullptr && pointer->is_string()) {
            const auto* found = at_pointer(items, pointer->as_string());
            if (found == nullptr) {
                return std::unexpected(Failure{.error = "States.ItemReaderFailed",
                                               .cause = "The ItemsPointer leads nowhere."});
            }
            items = *found;
            note("afterItemsPointer", items);
        }
    } else {
        items = TRY(read_items(map, state_.language, sight));
        // Executions go through the members of an object; TestState was recorded refusing it.
        if (!is_jsonata() && items.is_map()) {
            return std::unexpected(Failure{
                .error = "States.Runtime",
                .cause = fmt::format("Reference path \"{}\" must point to array.",
                                     map.items_path ? within(map.items_path->text()) : "$")});
        }
        if (!is_jsonata() && map.items_path) {
            note("afterItemsPath", items);
        }
    }
    items_ = items.size();
    if (map.item_selector) {
        items = TRY(select_items(map, items, sight));
        note("afterItemSelector", items);
    }
    if (map.batcher) {
        auto batches = TRY(batch_items(*map.batcher, items, sight));
        items_ = batches.size();
        note("afterItemBatcher", std::move(batches));
    }
    return {};
}

Flow<Value> StateTrial::select_items(const MapState& map, const Value& items, const Sight& sight) {
    auto selected = std::vector<Value>{};
    auto select = [&](const Value& key, const Value& value) -> Flow<void> {
        auto context = GivenContext{with_item(context_.value(), selected.size(), key, value)};
        auto own = sight;
        own.context = &context;
        selected.push_back(TRY(map.item_selector->evaluate(own, "ItemSelector")));
        return {};
    };
    if (items.is_map()) {
        for (const auto& [key, value] : items.as_map()) {
            TRY(select(Value{key}, value));
        }
    } else if (items.is_list()) {
        for (const auto& value : items.as_list()) {
            TRY(select({}, value));
        }
    }
    return Value::list(std::move(selected));
}

Flow<Value> StateTrial::batch_items(const ItemBatcher& batcher, const Value& items,
                                    const Sight& sight) {
    auto most = std::size_t{0};
    auto bytes_max = std::size_t{0};
    if (batcher.items_max.is_given()) {
        most =
            static_cast<std::size_t>(TRY(read_count(batcher.items_max, "MaxItemsPerBatch", sight)));
    }
    if (batcher.bytes_max.is_given()) {
        bytes_max = static_cast<std::size_t>(
            TRY(read_count(batcher.bytes_max, "MaxInputBytesPerBatch", sight)));
    }
    auto shared = batcher.input ? TRY(batcher.input->evaluate(sight, "BatchInput")) : Value{};
    auto batches = std::vector<Value>{};
    auto batch = std::vector<Value>{};
    auto bytes = std::size_t{0};
    auto close = [&] {
        if (batch.empty()) {
            return;
        }
        auto made = Value::object({{"Items", Value::list(std::exchange(batch, {}))}});
        batches.push_back(shared.is_null() ? made : made.with("BatchInput", shared));
        bytes = 0;
    };
    for (const auto& item : items.is_list() ? items.as_list() : std::span<const Value>{}) {
        auto size = value::to_json(item).size();
        if ((most > 0 && batch.size() >= most) || (bytes_max > 0 && bytes + size > bytes_max)) {
            close();
        }
        batch.push_back(item);
        bytes += size;
    }
    close();
    return Value::list(std::move(batches));
}

Flow<void> StateTrial::read_limits(const MapState& map, const Sight& sight) {
    auto concurrency = std::int64_t{0};
    if (map.concurrency_max.is_given()) {
        concurrency = TRY(read_count(map.concurrency_max, "MaxConcurrency", sight));
    }
    note("maxConcurrency", concurrency);
    if (map.tolerated_count.is_given()) {
        tolerated_count_ = TRY(read_count(map.tolerated_count, "ToleratedFailureCount", sight));
        note("toleratedFailureCount", *tolerated_count_);
    }
    if (map.tolerated_percentage.is_given()) {
        tolerated_percentage_ =
            TRY(read_percentage(map.tolerated_percentage, "ToleratedFailurePercentage", sight));
        note("toleratedFailurePercentage", *tolerated_percentage_);
    }
    return {};
}

bool StateTrial::exceeds_tolerance() const {
    if (!test_.failed_iterations) {
        return false;
    }
    auto failed = *test_.failed_iterations;
    auto is_over_count = tolerated_count_ && failed > static_cast<std::uint64_t>(*tolerated_count_);
    auto share = items_.value_or(0) == 0
                     ? 0.0
                     : 100.0 * static_cast<double>(failed) / static_cast<double>(*items_);
    return is_over_count || (tolerated_percentage_ && share > *tolerated_percentage_);
}

} // namespace sluice::workflow::asl::internal

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.h"
#include "workflow/asl/internal/read/fields.h"
#include "workflow/asl/internal/read/object_access.h"
#include "workflow/asl/internal/read/reading.h"

namespace sluice::workflow::asl::internal {

namespace {

constexpr auto label_letters_max = std::size_t{40};
constexpr auto whole_max = WholeRange{.min = 0, .max = INT32_MAX};

bool may_stand_in_label(std::uint32_t code) {
    constexpr auto refused = std::string_view{" <>{}[]?*\"#%\\^|~`$&,;:/"};
    auto is_control = code < 0x20 || (code >= 0x7F && code <= 0x9F);
    return !is_control && code < 0xD800 ? code >= 0x80 || !refused.contains(static_cast<char>(code))
                                        : !is_control;
}

/// Nothing: it is a label.
std::optional<std::string> fault_of_label(std::string_view label) {
    auto letters = std::size_t{0};
    for (auto at = std::size_t{0}; at < label.size(); ++letters) {
        auto [code, size] = decode_utf8(label.substr(at));
        if (size == 0 || !may_stand_in_label(code)) {
            return "The label must not contain white space, wildcards, brackets, control "
                   "characters or any of \" # % \\ ^ | ~ ` $ & , ; : /";
        }
        at += size;
    }
    if (letters == 0 || letters > label_letters_max) {
        return fmt::format("The label must have 1 to {} characters but has {}", label_letters_max,
                           letters);
    }
    return std::nullopt;
}

void read_label(StateSite& site, MapState& map) {
    auto label = site.object.text("Label");
    if (!label) {
        return;
    }
    if (auto fault = fault_of_label(*label)) {
        site.object.refuse("Label", *std::move(fault), code::bad_label);
        return;
    }
    auto [known, is_new] = site.reading.labels.try_emplace(std::string{*label}, site.state.name);
    if (!is_new) {
        site.object.refuse(
            "Label",
            fmt::format("The label '{}' is that of the state '{}' already", *label, known->second),
            code::repeated_label);
    }
    map.label = *label;
}

constexpr auto distributed_fields =
    std::to_array<std::string_view>({"ItemReader", "ItemBatcher", "ResultWriter", "Label"});

/// What only a distributed Map can have makes it one, unless it says otherwise.
void infer_mode(StateSite& site, MapState& map) {
    for (auto name : distributed_fields) {
        if (site.object.has(name)) {
            map.is_distributed = true;
            site.reading.report.warn(
                site.object.at(name),
                fmt::format("'{}' makes this a distributed Map, which 'ProcessorConfig' should say",
                            name),
                code::inferred_mode);
        }
    }
}

void refuse_distributed_fields(StateSite& site) {
    for (auto name : distributed_fields) {
        if (site.object.has(name)) {
            site.object.refuse(name, fmt::format("The field '{}' is only supported in a Map state "
                                                 "whose 'ProcessorConfig' has the 'Mode' "
                                                 "DISTRIBUTED",
                                                 name));
        }
    }
}

void read_processor_config(StateSite& site, const Object& processor, MapState& map) {
    auto config = processor.object("ProcessorConfig");
    if (!config) {
        infer_mode(site, map);
        return;
    }
    config->allow_only({"Mode", "ExecutionType", "Comment"});
    auto mode = config->word("Mode", {"INLINE", "DISTRIBUTED"});
    map.is_distributed = mode == "DISTRIBUTED";
    map.is_express = config->word("ExecutionType", {"STANDARD", "EXPRESS"}) == "EXPRESS";
    if (map.is_distributed && !config->has("ExecutionType")) {
        config->refuse_all("The field 'ExecutionType' is required in mode DISTRIBUTED");
    }
    if (map.is_distributed && site.is_express) {
        config->refuse("Mode", "Express state machine does not support DISTRIBUTED Map state");
    }
    if (!map.is_distributed) {
        refuse_distributed_fields(site);
    }
}

void read_processor(StateSite& site, MapState& map) {
    const auto& object = site.object;
    if (!object.allow_one_of({"ItemProcessor", "Iterator"})) {
        return;
    }
    auto name = object.has("Iterator") ? "Iterator" : "ItemProcessor";
    object.require({name});
    auto processor = object.object(name);
    if (!processor) {
        return;
    }
    processor->allow_only({"StartAt", "States", "ProcessorConfig", "Comment"});
    read_processor_config(site, *processor, map);
    map.processor =
        site.reading.add_flow({.form = &processor->form(),
                               .pointer = processor->pointer(),
                               .is_express = map.is_distributed ? map.is_express : site.is_express,
                               .sees_outer = !map.is_distributed},
                              site.number);
}

void read_items(StateSite& site, MapState& map) {
    const auto& object = site.object;
    auto inside = TemplateSite{.language = site.language()};
    if (site.language() == Language::JsonPath) {
        object.allow_one_of({"ItemSelector", "Parameters"});
        map.items_path = read_selector(object, "ItemsPath", Selector::Kind::Reference);
        map.item_selector = read_template(
            object, object.has("ItemSelector") ? "ItemSelector" : "Parameters", inside);
        return;
    }
    const auto* items = object.find("Items");
    if (items != nullptr && !items->is_list() && !items->is_map() &&
        !(items->is_string() && is_expression(items->as_string()))) {
        object.refuse("Items",
                      wrong_kind("Items", "an array, an object or an expression {% … %}", *items));
    } else {
        map.items = read_template(object, "Items", inside);
    }
    map.item_selector = read_template(object, "ItemSelector", inside);
}

} // namespace

MapState read_map(StateSite& site) {
    auto map = MapState{};
    const auto& object = site.object;
    auto language = site.language();
    read_processor(site, map);
    read_label(site, map);
    read_items(site, map);
    map.concurrency_max = read_number(
        object, language,
        {.name = "MaxConcurrency", .path_name = "MaxConcurrencyPath", .range = whole_max});
    map.tolerated_count = read_number(object, language,
                                      {.name = "ToleratedFailureCount",
                                       .path_name = "ToleratedFailureCountPath",
                                       .range = whole_max});
    map.tolerated_percentage = read_number(object, language,
                                           {.name = "ToleratedFailurePercentage",
                                            .path_name = "ToleratedFailurePercentagePath",
                                            .range = {.min = 0, .max = 100},
                                            .may_be_fraction = true});
    map.reader = read_item_reader(object, language);
    map.batcher = read_item_batcher(object, language);
    map.writer = read_result_writer(object, language);
    return map;
}

} // namespace sluice::workflow::asl::internal

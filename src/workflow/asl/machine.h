#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "expr/jsonpath/reference_path.h"
#include "expr/states/choice.h"
#include "expr/states/sight.h"
#include "expr/states/template.h"
#include "value/value.h"

namespace sluice::workflow::asl {

using expr::states::Language;
using expr::states::Selector;
using expr::states::Template;

/// Places in `Machine::states` and `Machine::flows`.
using StateNumber = std::uint32_t;
using FlowNumber = std::uint32_t;

enum class Kind : std::uint8_t { Pass, Choice, Wait, Succeed, Fail, Task, Parallel, Map };

struct Retrier {
    std::vector<std::string> errors;
    std::uint32_t interval_seconds = 1;
    std::uint32_t attempts_max = 3;
    double backoff_rate = 2.0;
    std::optional<std::uint32_t> delay_seconds_max{};
    bool has_full_jitter = false;
};

/// Where a result goes in the raw input: nowhere (`null`), instead of it (`$`), or to a place.
struct ResultPath {
    bool is_discarded = false;
    std::optional<expr::jsonpath::ReferencePath> place{}; ///< None: it replaces everything.
};

struct Catcher {
    std::vector<std::string> errors;
    StateNumber next = 0;
    ResultPath result_path;
    std::optional<Template> output{};
    std::optional<Template> assign{};
};

/// A number given as such, by a reference path (JSONPath), or by an expression (JSONata).
struct NumberField {
    std::variant<std::monostate, std::int64_t, double, Selector, Template> source{};
    bool is_given() const { return source.index() != 0; }
};

/// `InputPath` and `OutputPath`: `$` by default, null gives {}.
struct PathField {
    bool is_null = false;
    std::optional<Selector> path{}; ///< None: all of it.
};

struct ChoiceRule {
    expr::states::Condition condition;
    StateNumber next = 0;
    std::optional<Template> output{};
    std::optional<Template> assign{};
};
struct ChoiceState {
    std::vector<ChoiceRule> rules;
    std::optional<StateNumber> otherwise{};
};

struct WaitState {
    NumberField seconds; ///< One of the two.
    std::variant<std::monostate, std::string, Selector, Template> timestamp{};
};

struct FailState {
    /// Each a text, a path or function, or an expression.
    using Text = std::variant<std::monostate, std::string, Selector, Template>;
    Text error;
    Text cause;
};

/// How a task's work is waited for.
enum class Pattern : std::uint8_t { RequestResponse, Sync, Sync2, WaitForTaskToken };

struct TaskState {
    std::string resource; ///< As written.
    /// `lambda`, `activity`, or the service of an optimised or SDK integration: `states`, `sqs`,
    /// `aws-sdk:s3`.
    std::string service;
    std::string action; ///< `function` for a function ARN, `invoke`, `startExecution`, …
    std::string target; ///< Name of the function or activity that an ARN says.
    Pattern pattern = Pattern::RequestResponse;
    NumberField timeout_seconds;
    NumberField heartbeat_seconds;
    std::optional<Template> credentials{};
};

struct ParallelState {
    std::vector<FlowNumber> branches;
};

/// `ItemReader` and `ResultWriter`.
struct ObjectAccess {
    std::string resource;
    std::optional<Template> arguments{}; ///< `Parameters` or `Arguments`.
    Value config;                        ///< `ReaderConfig` or `WriterConfig`; null: none.
    NumberField items_max;               ///< Of a reader.
};

struct ItemBatcher {
    NumberField items_max;
    NumberField bytes_max;
    std::optional<Template> input{};
};

struct MapState {
    FlowNumber processor = 0;
    bool is_distributed = false;
    bool is_express = false; ///< `ExecutionType` of its children.
    std::string label;
    std::optional<Selector> items_path{};
    std::optional<Template> items{}; ///< JSONata.
    std::optional<Template> item_selector{};
    NumberField concurrency_max;
    NumberField tolerated_count;
    NumberField tolerated_percentage;
    std::optional<ObjectAccess> reader{};
    std::optional<ObjectAccess> writer{};
    std::optional<ItemBatcher> batcher{};
};

/// A state as its author wrote it, every field compiled.
struct State {
    std::string name;
    Kind kind = Kind::Pass;
    Language language = Language::JsonPath;
    FlowNumber flow = 0;
    std::optional<StateNumber> next{}; ///< None: the flow ends here (or it is a Choice or a Fail).

    PathField input_path{};
    PathField output_path{};
    ResultPath result_path{};
    std::optional<Template> parameters{}; ///< `Parameters`, or in JSONata `Arguments`.
    std::optional<Template> result_selector{};
    std::optional<Template> output{}; ///< JSONata.
    std::optional<Template> assign{};
    std::optional<Value> result{}; ///< Of Pass, literal.
    std::vector<Retrier> retry{};
    std::vector<Catcher> catches{};

    std::variant<std::monostate, ChoiceState, WaitState, FailState, TaskState, ParallelState,
                 MapState>
        details{};
};

/// The states of the machine itself, of a branch or of a processor.
struct Flow {
    StateNumber start = 0;
    std::optional<StateNumber> owner{}; ///< The Parallel or Map around it.
};

/// A state machine: checked, compiled, immutable. Flow 0 is the machine's own.
struct Machine {
    std::string comment;
    Language language = Language::JsonPath;
    std::optional<std::uint64_t> timeout_seconds{};
    std::vector<State> states;
    std::vector<Flow> flows;
    boost::unordered_flat_map<std::string, StateNumber> by_name;
};

} // namespace sluice::workflow::asl

#include "sluice/run/prepared_run.h"

#include <charconv>
#include <string_view>
#include <utility>

#include "sluice/output.h"
#include "value/json.h"

namespace sluice::app {

namespace {

constexpr auto simulate_word = std::string_view{"simulate"};
constexpr auto time_scale_max = 1'000'000;

Result<Value> read_input(const RunOptions& options, const Value& otherwise) {
    if (options.input.empty()) {
        return otherwise;
    }
    auto is_file = options.input.starts_with('@');
    auto text = is_file ? TRY(read_text(options.input.substr(1))) : options.input;
    auto input = value::parse_json(text);
    if (!input) {
        return fail(Errc::InvalidInput, "the input {} is no JSON: {}",
                    is_file ? options.input.substr(1) : brief(Value{text}), input.error().message);
    }
    return *std::move(input);
}

Result<Value> read_labels(const RunOptions& options) {
    auto labels = Value::map({});
    for (const auto& label : options.labels) {
        auto equals = label.find('=');
        if (equals == 0 || equals == std::string::npos) {
            return fail(Errc::InvalidInput, "label \"{}\": expected key=value", label);
        }
        labels = labels.with(label.substr(0, equals), label.substr(equals + 1));
    }
    return labels;
}

std::nullopt_t stop_at(const Findings& findings, ExitCode& code) {
    say_findings(findings);
    code = ExitCode::Invalid;
    return std::nullopt;
}

std::nullopt_t stop_at(const Error& error, ExitCode& code) {
    code = report(error);
    return std::nullopt;
}

} // namespace

store::Durability durability_of(const RunOptions& options) {
    if (options.durability.empty()) {
        return options.data.empty() ? store::Durability::Relaxed : store::Durability::Strict;
    }
    return options.durability == "strict"    ? store::Durability::Strict
           : options.durability == "relaxed" ? store::Durability::Relaxed
                                             : store::Durability::Memory;
}

Result<std::optional<Simulation>> simulation_of(const RunOptions& options) {
    if (options.functions != simulate_word) {
        if (!options.time_scale.empty() || options.slots > 0) {
            return fail(Errc::InvalidInput,
                        "{} is for simulated functions: expected --functions simulate beside it",
                        options.time_scale.empty() ? "--slots" : "--time-scale");
        }
        return std::nullopt;
    }
    auto simulation = Simulation{.slots = options.slots};
    if (!options.time_scale.empty()) {
        const auto& text = options.time_scale;
        const auto* end = text.data() + text.size();
        auto [stop, error] = std::from_chars(text.data(), end, simulation.time_scale);
        if (error != std::errc{} || stop != end || !(simulation.time_scale >= 0) ||
            simulation.time_scale > time_scale_max) {
            return fail(Errc::InvalidInput,
                        "--time-scale is \"{}\": expected a number from 0 to {}, such as 0.01",
                        text, time_scale_max);
        }
    }
    return simulation;
}

std::optional<FunctionFile> read_functions(const RunOptions& options,
                                           const trigger::Vocabulary& vocabulary, ExitCode& code) {
    if (options.functions.empty() || options.functions == simulate_word) {
        return FunctionFile{};
    }
    auto text = read_text(options.functions);
    if (!text) {
        return stop_at(text.error(), code);
    }
    auto functions = load_functions(*text, options.functions, vocabulary);
    if (!functions) {
        return stop_at(functions.error(), code);
    }
    return *std::move(functions);
}

std::optional<PreparedRun> prepare(const RunOptions& options, const trigger::Vocabulary& vocabulary,
                                   ExitCode& code) {
    auto prepared = PreparedRun{.durability = durability_of(options)};
    auto simulation = simulation_of(options);
    if (!simulation) {
        return stop_at(simulation.error(), code);
    }
    prepared.simulation = *simulation;
    auto functions = read_functions(options, vocabulary, code);
    if (!functions) {
        return std::nullopt;
    }
    prepared.functions = std::move(functions->functions);
    prepared.integrations = std::move(functions->integrations);
    auto known = KnownFunctions{.are_all = prepared.simulation.has_value(),
                                .is_express = options.is_express};
    for (const auto& form : prepared.functions) {
        known.add(form);
    }
    auto text = read_text(options.file);
    if (!text) {
        return stop_at(text.error(), code);
    }
    auto loaded = load_definition(*std::move(text), options.file, vocabulary, known);
    if (!loaded) {
        return stop_at(loaded.error(), code);
    }
    prepared.loaded = *std::move(loaded);
    const auto& declared = prepared.loaded.definition.functions;
    prepared.functions.insert(prepared.functions.end(), declared.begin(), declared.end());
    auto input = read_input(options, prepared.loaded.definition.input);
    if (!input) {
        return stop_at(input.error(), code);
    }
    prepared.input = *std::move(input);
    auto labels = read_labels(options);
    if (!labels) {
        return stop_at(labels.error(), code);
    }
    prepared.labels = *std::move(labels);
    prepared.id = options.run.empty() ? prepared.loaded.run_id(prepared.input) : options.run;
    return prepared;
}

} // namespace sluice::app

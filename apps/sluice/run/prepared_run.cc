#include "sluice/run/prepared_run.h"

#include <utility>

#include "sluice/output.h"
#include "value/json.h"

namespace sluice::app {

namespace {

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

std::optional<std::vector<workflow::raw::FunctionForm>> read_functions(
    const RunOptions& options, const trigger::Vocabulary& vocabulary, ExitCode& code) {
    if (options.functions.empty()) {
        return std::vector<workflow::raw::FunctionForm>{};
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
    auto functions = read_functions(options, vocabulary, code);
    if (!functions) {
        return std::nullopt;
    }
    prepared.functions = *std::move(functions);
    auto known = workflow::raw::CheckOptions{};
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

#include "sluice/eval/eval_command.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "cli/json_option.h"
#include "sluice/definition_file.h"
#include "sluice/eval/batch.h"
#include "sluice/eval/expression_case.h"
#include "sluice/output.h"
#include "value/json.h"

namespace sluice::app {
namespace {

/// Deeper than what comes over the network: it is the caller's own machine.
constexpr auto option_limits = value::JsonLimits{.depth_max = 1000};

Result<Value> read_json(std::string_view option, const std::string& given) {
    return cli::read_json_option(option, given, option_limits);
}

Result<ExpressionCase> case_of(const EvalOptions& options) {
    auto line = Value::object({{"expr", options.expression}});
    if (!options.input.empty()) {
        line = line.with("input", TRY(read_json("--input", options.input)));
    }
    if (!options.event.empty()) {
        line = line.with("event", TRY(read_json("--event", options.event)));
    }
    auto bindings = Value::map({});
    for (const auto& given : options.bindings) {
        auto equals = given.find('=');
        if (equals == 0 || equals == std::string::npos) {
            return fail(Errc::InvalidInput, "--bind {}: expected NAME=JSON", given);
        }
        auto name = given.substr(0, equals);
        bindings = bindings.with(name, TRY(read_json("--bind " + name, given.substr(equals + 1))));
    }
    auto codec = event::Codec{};
    return read_case(line.with("bindings", bindings), codec);
}

/// The line of the expression that a fault is in, and a mark below its place.
void say_place(std::string_view text, std::size_t position) {
    position = std::min(position, text.size());
    auto begin = text.substr(0, position).rfind('\n');
    begin = begin == std::string_view::npos ? 0 : begin + 1;
    auto line = text.substr(begin, text.find('\n', begin) - begin);
    auto mark = std::string{};
    for (auto c : line.substr(0, position - begin)) {
        auto is_continued = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
        mark += is_continued ? "" : c == '\t' ? "\t" : " ";
    }
    say("  {}\n  {}^", line, mark);
}

void say_fault(const expr::Fault& fault, std::string_view text) {
    say("sluice eval: {}: {}", fault.code, fault.message);
    say_place(text, fault.position);
}

} // namespace

ExitCode eval(const EvalOptions& options) {
    auto evaluate = evaluator_of(options.language);
    auto kinds = options.is_typed ? Kinds::Shown : Kinds::Plain;
    if (evaluate == nullptr) {
        return report(
            Error{Errc::InvalidInput, "--lang " + options.language + ": no such language"});
    }
    if (options.is_batch) {
        return eval_batch(evaluate, kinds);
    }
    if (options.expression.empty()) {
        return report(Error{Errc::InvalidInput, "expected an expression, or --batch"});
    }
    auto one = case_of(options);
    if (!one) {
        return report(one.error());
    }
    auto answer = evaluate(*one, kinds);
    if (answer.value) {
        print_line(value::to_json(*answer.value));
    }
    if (answer.fault) {
        say_fault(*answer.fault, one->text);
    } else if (!answer.value) {
        say("undefined");
    } else if (answer.errors) {
        for (const auto& fault : *answer.errors) {
            say_fault(fault, one->text);
        }
    }
    return answer.has_failed() ? ExitCode::Failed : ExitCode::Ok;
}

} // namespace sluice::app

#include <memory>
#include <optional>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/internal/random_id.h"
#include "cli/internal/run_ending.h"
#include "cli/json_option.h"
#include "cli/output.h"
#include "value/time_text.h"

namespace sluice::cli {

namespace {

struct StartOptions {
    Connection connection;
    std::string definition;
    std::string id;
    std::string input;
    std::vector<std::string> labels;
    std::string priority;
    std::optional<std::string> wait; ///< Empty: until its end.
    bool is_json = false;
};

Result<Value> read_labels(const std::vector<std::string>& given) {
    auto labels = std::vector<value::Member>{};
    for (const auto& each : given) {
        auto equals = each.find('=');
        if (equals == 0 || equals == std::string::npos) {
            return fail(Errc::InvalidInput, "--label {}: expected key=value", each);
        }
        labels.push_back({each.substr(0, equals), each.substr(equals + 1)});
    }
    return labels.empty() ? Value{} : Value::map(std::move(labels));
}

Result<client::StartRequest> request_of(const StartOptions& options) {
    auto request = client::StartRequest{.id = options.id, .definition = options.definition};
    if (request.id.empty()) {
        request.id = fmt::format("{}-{}", options.definition, random_id(6));
    }
    if (!options.input.empty()) {
        request.input = TRY(read_json_option("--input", options.input));
    }
    request.labels = TRY(read_labels(options.labels));
    if (!options.priority.empty()) {
        auto priority = TRY(read_json_option("--priority", options.priority));
        if (!priority.is_int()) {
            return fail(Errc::InvalidInput, "--priority {}: expected an integer from -1000 to 1000",
                        options.priority);
        }
        request.priority = priority.as_int();
    }
    return request;
}

Result<std::optional<Nanos>> read_wait(const std::string& text) {
    if (text.empty()) {
        return std::nullopt;
    }
    auto wait = value::parse_duration(text);
    if (!wait || *wait <= Nanos{0}) {
        return fail(Errc::InvalidInput, "--wait={}: expected a duration such as 30s", text);
    }
    return *wait;
}

ExitCode start_and_wait(client::Client& client, const client::StartRequest& request,
                        const StartOptions& options) {
    auto wait = read_wait(*options.wait);
    if (!wait) {
        return report(wait.error());
    }
    say("run {}", request.id);
    auto ending = client.start_and_wait(request, *wait);
    if (!ending) {
        return report(ending.error());
    }
    return tell_ending(request.id, *ending, options.is_json);
}

ExitCode start(const Host& host, const StartOptions& options) {
    auto request = request_of(options);
    if (!request) {
        return report(request.error());
    }
    auto client = options.connection.open(host);
    if (!client) {
        return report(client.error());
    }
    if (options.wait) {
        return start_and_wait(*client, *request, options);
    }
    auto started = client->start(*request);
    if (!started) {
        return report(started.error());
    }
    if (options.is_json) {
        print_json(*started);
        return ExitCode::Ok;
    }
    const auto* existing = started->find("existing");
    if (existing != nullptr && *existing == Value{true}) {
        say("this run was there already");
    }
    print_line(request->id);
    return ExitCode::Ok;
}

} // namespace

Command start_command(const Host& host) {
    auto options = std::make_shared<StartOptions>();
    auto command = Command{
        .name = "start",
        .help = "Start a run of a definition that a server has",
        .words = {{.name = "DEFINITION",
                   .target = &options->definition,
                   .help = "Its name; `sluice deploy` gives it to the server",
                   .is_required = true},
                  {.name = "--id",
                   .target = &options->id,
                   .help = "The run's id; the same one again is the same run",
                   .value = "ID"},
                  {.name = "--priority",
                   .target = &options->priority,
                   .help = "Of its tasks where they wait with others, from -1000 to 1000",
                   .value = "N"},
                  {.name = "--input",
                   .target = &options->input,
                   .help = "The run's input: JSON, or @FILE",
                   .value = "JSON"},
                  {.name = "--label",
                   .target = &options->labels,
                   .help = "A label of the run; may be repeated",
                   .value = "KEY=VALUE"},
                  {.name = "--wait",
                   .target = &options->wait,
                   .help = "Wait for its end and print the result; --wait=30s for so long at most"},
                  json_word(options->is_json, "What the server answered")},
        .run = [&host, options] { return start(host, *options); }};
    options->connection.add_to(command);
    return command;
}

} // namespace sluice::cli

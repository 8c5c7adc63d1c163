#include "cli/server_actions.h"

#include "cli/output.h"

namespace sluice::cli {

namespace {

/// Does it, and prints the answer or the run's id.
template <typename Act>
ExitCode act_on_run(const Host& host, const Connection& connection, const std::string& run,
                    bool is_json, Act act) {
    auto client = connection.open(host);
    if (!client) {
        return report(client.error());
    }
    auto done = act(*client);
    if (!done) {
        return report(*client, done.error(), run);
    }
    if (is_json) {
        print_json(done->is_map() ? *done : Value::object({{"run", run}}));
    } else {
        auto id = text_at(*done, "run");
        print_line(id.empty() ? run : id);
    }
    return ExitCode::Ok;
}

} // namespace

ExitCode fork_on_server(const Host& host, const Connection& connection, const ForkRequest& request,
                        bool is_json) {
    return act_on_run(host, connection, request.run, is_json, [&](client::Client& client) {
        auto body = Value::object({{"event", number(request.at)}});
        body = request.id.empty() ? body : body.with("id", request.id);
        return client.command(request.run, "fork", body);
    });
}

ExitCode reopen_on_server(const Host& host, const Connection& connection, const std::string& run,
                          bool is_json) {
    return act_on_run(host, connection, run, is_json,
                      [&](client::Client& client) { return client.command(run, "reopen"); });
}

ExitCode tell_task_on_server(const Host& host, const Connection& connection, const std::string& run,
                             const std::string& verb, const Value& body, bool is_json) {
    return act_on_run(host, connection, run, is_json,
                      [&](client::Client& client) { return client.command(run, verb, body); });
}

ExitCode delete_on_server(const Host& host, const Connection& connection, const std::string& run,
                          WhenRunning when, bool is_json) {
    return act_on_run(host, connection, run, is_json, [&](client::Client& client) {
        auto query =
            when == WhenRunning::Terminate ? client::Query{{"terminate", "true"}} : client::Query{};
        return client.remove(client::path_of({"v1", "runs", run}), query);
    });
}

} // namespace sluice::cli

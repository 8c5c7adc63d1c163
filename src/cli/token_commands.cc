#include <memory>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/output.h"

namespace sluice::cli {

namespace {

struct TokenOptions {
    Connection connection;
    std::string name;
    std::string role = "reader";
    std::string expires; ///< A time, or a duration from now; empty: never.
    bool is_json = false;
    std::string data; ///< Of a server that does not run.
    bool is_for_configuration = false;

    /// Tokens belong to the server, not to a namespace: that is one of their members.
    Result<client::Client> open(const Host& host) const {
        auto global = connection;
        global.space.clear();
        return global.open(host);
    }
};

ExitCode create_token(client::Client& client, const TokenOptions& options) {
    auto body = Value::object({{"name", options.name}, {"role", options.role}});
    body =
        options.connection.space.empty() ? body : body.with("namespace", options.connection.space);
    body = options.expires.empty() ? body : body.with("expires", options.expires);
    auto created = client.post("/v1/tokens", body);
    if (!created) {
        return report(created.error());
    }
    if (options.is_json) {
        print_json(*created);
    } else {
        say("token {} of role {}: it is shown this once, and kept nowhere", options.name,
            options.role);
        print_line(text_at(*created, "token"));
    }
    return ExitCode::Ok;
}

ExitCode list_tokens(client::Client& client, const TokenOptions& options) {
    auto tokens = std::vector<Value>{};
    auto listing = client.list("/v1/tokens", "tokens");
    for (const auto& token : listing) {
        tokens.push_back(token);
    }
    if (listing.problem()) {
        return report(*listing.problem());
    }
    if (options.is_json) {
        print_json(Value::list(std::move(tokens)));
        return ExitCode::Ok;
    }
    auto table = Table{{"NAME", "ROLE", "NAMESPACE", "CREATED", "EXPIRES"}};
    for (const auto& token : tokens) {
        auto space = text_at(token, "namespace");
        table.add({text_at(token, "name"), text_at(token, "role"), space.empty() ? "all" : space,
                   text_at(token, "created"), text_at(token, "expires")});
    }
    table.print();
    return ExitCode::Ok;
}

ExitCode delete_token(client::Client& client, const TokenOptions& options) {
    auto removed = client.remove(client::path_of({"v1", "tokens", options.name}));
    if (!removed) {
        return report(removed.error());
    }
    print_line(options.name);
    return ExitCode::Ok;
}

Command token_command(const Host& host, const std::string& verb, const std::string& help,
                      ExitCode (*act)(client::Client&, const TokenOptions&)) {
    auto options = std::make_shared<TokenOptions>();
    auto command = Command{.name = "token " + verb, .help = help};
    if (verb != "list") {
        command.words.push_back(
            {.name = "NAME", .target = &options->name, .help = "Its name", .is_required = true});
    }
    if (verb == "create") {
        command.words.push_back({.name = "--role",
                                 .target = &options->role,
                                 .help = "What it may do",
                                 .choices = {"reader", "operator", "admin"}});
        command.words.push_back({.name = "--expires",
                                 .target = &options->expires,
                                 .help = "When it ends: a time, or a duration from now such as 30d",
                                 .value = "TIME"});
        command.words.push_back({.name = "--data",
                                 .target = &options->data,
                                 .help = "Put it into the data of a server that does not run",
                                 .value = "DIR",
                                 .completes = Completes::Folder,
                                 .group = "without a server"});
        command.words.push_back({.name = "--for-config",
                                 .target = &options->is_for_configuration,
                                 .help = "Only make it, to be put into a configuration",
                                 .group = "without a server"});
    }
    command.words.push_back(json_word(options->is_json, "As JSON"));
    options->connection.add_to(command);
    command.run = [&host, options, act] {
        if (!options->data.empty() || options->is_for_configuration) {
            return host.make_token({.data = options->data,
                                    .name = options->name,
                                    .role = options->role,
                                    .space = options->connection.space,
                                    .expires = options->expires,
                                    .is_json = options->is_json});
        }
        auto client = options->open(host);
        return client ? act(*client, *options) : report(client.error());
    };
    return command;
}

} // namespace

std::vector<Command> token_commands(const Host& host) {
    return {
        {.name = "token", .help = "Who may ask a server, and for what"},
        token_command(host, "create", "Make a token; --namespace bounds it to one", create_token),
        token_command(host, "list", "List tokens, without their secrets", list_tokens),
        token_command(host, "delete", "Revoke a token", delete_token)};
}

} // namespace sluice::cli

#include <memory>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/output.h"

namespace sluice::cli {

namespace {

struct TokenOptions {
    Connection connection;
    std::string name;
    bool is_json = false;
};

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
    command.words.push_back(json_word(options->is_json, "As JSON"));
    options->connection.add_to(command);
    command.run = [&host, options, act] {
        auto client = options->connection.open(host);
        return client ? act(*client, *options) : report(client.error());
    };
    return command;
}

} // namespace

std::vector<Command> token_commands(const Host& host) {
    return {{.name = "token", .help = "Who may ask a server, and for what"},
            token_command(host, "list", "List tokens, without their secrets", list_tokens),
            token_command(host, "delete", "Revoke a token", delete_token)};
}

} // namespace sluice::cli

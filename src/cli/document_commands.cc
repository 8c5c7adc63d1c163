#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/internal/files.h"
#include "cli/output.h"
#include "value/json.h"

namespace sluice::cli {

namespace {

/// Something that people set up by name, and where the API has it.
struct DocumentKind {
    std::string name;   ///< `route`
    std::string plural; ///< `routes`: the path, and the member of a list
    std::string help;
};

struct DocumentOptions {
    Connection connection;
    DocumentKind kind;
    std::string name;
    std::string file;
    bool is_json = false;
};

constexpr auto columns_max = std::size_t{6};

/// Columns for what a row can show: the first document's short members.
std::vector<std::string> columns_of(const Value& document) {
    auto columns = std::vector<std::string>{"name"};
    for (const auto& [key, value] : document.as_map()) {
        auto is_short = !value.is_list() && !value.is_map();
        if (is_short && key != "name" && columns.size() < columns_max) {
            columns.push_back(key);
        }
    }
    return columns;
}

std::string upper(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](char letter) { return static_cast<char>(std::toupper(letter)); });
    return text;
}

void print_documents(const std::vector<Value>& documents) {
    auto columns =
        documents.empty() ? std::vector<std::string>{"name"} : columns_of(documents.front());
    auto heading = std::vector<std::string>{};
    std::ranges::transform(columns, std::back_inserter(heading), upper);
    auto table = Table{std::move(heading)};
    for (const auto& document : documents) {
        auto row = std::vector<std::string>{};
        std::ranges::transform(columns, std::back_inserter(row),
                               [&](const auto& column) { return text_at(document, column); });
        table.add(std::move(row));
    }
    table.print();
}

ExitCode list_documents(client::Client& client, const DocumentOptions& options) {
    auto documents = std::vector<Value>{};
    auto listing = client.list("/v1/" + options.kind.plural, options.kind.plural);
    for (const auto& document : listing) {
        documents.push_back(document.is_map() ? document : Value::object({{"name", document}}));
    }
    if (listing.problem()) {
        return report(*listing.problem());
    }
    if (options.is_json) {
        print_json(Value::list(std::move(documents)));
    } else {
        print_documents(documents);
    }
    return ExitCode::Ok;
}

ExitCode get_document(client::Client& client, const DocumentOptions& options) {
    auto document = client.get(client::path_of({"v1", options.kind.plural, options.name}));
    if (!document) {
        return report(document.error());
    }
    print_json(*document);
    return ExitCode::Ok;
}

ExitCode delete_document(client::Client& client, const DocumentOptions& options) {
    auto removed = client.remove(client::path_of({"v1", options.kind.plural, options.name}));
    if (!removed) {
        return report(removed.error());
    }
    print_line(options.name);
    return ExitCode::Ok;
}

ExitCode set_one(client::Client& client, const Value& document, const DocumentOptions& options) {
    auto name = options.name.empty() ? text_at(document, "name") : options.name;
    if (!document.is_map() || name.empty()) {
        return report(
            Error{Errc::InvalidInput, fmt::format("{}: expected a map with a name", options.file)});
    }
    // The path has the name already.
    auto set =
        client.put(client::path_of({"v1", options.kind.plural, name}), document.without("name"));
    if (!set) {
        return report(set.error());
    }
    if (options.is_json) {
        print_line(value::to_json(set->is_map() ? *set : Value::object({{"name", name}})));
    } else {
        print_line(name);
    }
    return ExitCode::Ok;
}

ExitCode set_documents(client::Client& client, const Host& host, const DocumentOptions& options) {
    auto text = read_text(options.file);
    auto form = text ? host.read_document(*text, options.file)
                     : Result<Value>{std::unexpected(text.error())};
    if (!form) {
        return report(form.error());
    }
    if (!form->is_list()) {
        return set_one(client, *form, options);
    }
    auto worst = ExitCode::Ok;
    for (const auto& document : form->as_list()) {
        worst = std::max(worst, set_one(client, document, options));
    }
    return worst;
}

using Act = std::function<ExitCode(client::Client&, const DocumentOptions&)>;

Command command_of(const Host& host, const DocumentKind& kind, const std::string& verb,
                   const std::string& help, std::vector<std::string> words, Act act) {
    auto options = std::make_shared<DocumentOptions>(DocumentOptions{.kind = kind});
    auto command = Command{.name = kind.name + " " + verb, .help = help};
    for (const auto& word : words) {
        auto is_file = word == "-f,--file";
        command.words.push_back(
            {.name = is_file ? word : "NAME",
             .target = is_file ? &options->file : &options->name,
             .help = is_file ? "YAML or JSON: one, or a list; - is standard input" : "Its name",
             .is_required = word != "[NAME]",
             .completes = is_file ? Completes::File : Completes::Nothing});
    }
    command.words.push_back(json_word(options->is_json, "As JSON"));
    options->connection.add_to(command);
    command.run = [&host, options, act = std::move(act)] {
        auto client = options->connection.open(host);
        return client ? act(*client, *options) : report(client.error());
    };
    return command;
}

} // namespace

std::vector<Command> document_commands(const Host& host) {
    auto commands = std::vector<Command>{};
    for (const auto& kind :
         {DocumentKind{"namespace", "namespaces", "Tenants' shares of a server"},
          DocumentKind{"route", "routes", "How events without a run find theirs"},
          DocumentKind{"source", "sources", "Where a server takes events from"},
          DocumentKind{"schedule", "schedules", "What happens when it is time"},
          DocumentKind{"function", "functions", "What can be invoked by name"}}) {
        commands.push_back({.name = kind.name, .help = kind.help});
        commands.push_back(command_of(host, kind, "list", "List them", {}, list_documents));
        commands.push_back(command_of(host, kind, "get", "Show one", {"NAME"}, get_document));
        commands.push_back(
            command_of(host, kind, "set", "Set it up, or change it", {"[NAME]", "-f,--file"},
                       [&host](client::Client& client, const DocumentOptions& options) {
                           return set_documents(client, host, options);
                       }));
        commands.push_back(
            command_of(host, kind, "delete", "Remove it", {"NAME"}, delete_document));
    }
    return commands;
}

} // namespace sluice::cli

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
    bool goes_on = false;  ///< Can be paused and resumed.
    bool is_plain = false; ///< No more than its name: there is nothing to get, or to set.
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
std::vector<std::string> columns_of(const std::string& name, const Value& document) {
    auto columns = std::vector<std::string>{name};
    for (const auto& [key, value] : document.as_map()) {
        auto is_short = !value.is_list() && !value.is_map();
        if (is_short && key != name && columns.size() < columns_max) {
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

void print_documents(const DocumentKind& kind, const std::vector<Value>& documents) {
    auto columns = columns_of(kind.name, documents.empty() ? Value::object({}) : documents.front());
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
        documents.push_back(document);
    }
    if (listing.problem()) {
        return report(*listing.problem());
    }
    if (options.is_json) {
        print_json(Value::list(std::move(documents)));
    } else {
        print_documents(options.kind, documents);
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

/// A document has its name under what it is: `{"route": "orders", …}`.
ExitCode set_one(client::Client& client, const Value& document, const DocumentOptions& options) {
    const auto& kind = options.kind;
    auto name = options.name.empty() ? text_at(document, kind.name) : options.name;
    if (!document.is_map() || name.empty()) {
        return report(Error{Errc::InvalidInput,
                            fmt::format("{0}: expected a map with {1}, or `sluice {1} set NAME`",
                                        options.file, kind.name)});
    }
    auto set = client.put(client::path_of({"v1", kind.plural, name}), document.without(kind.name));
    if (!set) {
        return report(set.error());
    }
    if (options.is_json) {
        print_line(value::to_json(*set));
    } else {
        print_line(name);
    }
    return ExitCode::Ok;
}

ExitCode set_documents(client::Client& client, const Host& host, const DocumentOptions& options) {
    if (options.file.empty()) {
        return set_one(client, Value::object({}), options);
    }
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

/// `pause` and `resume` of what goes on by itself.
ExitCode tell_document(client::Client& client, const std::string& verb,
                       const DocumentOptions& options) {
    auto told = client.post(client::path_of({"v1", options.kind.plural, options.name, verb}));
    if (!told) {
        return report(told.error());
    }
    print_line(options.name);
    return ExitCode::Ok;
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
             .is_required = !word.starts_with('[') && !(is_file && kind.is_plain),
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
    auto set = [&host](client::Client& client, const DocumentOptions& options) {
        return set_documents(client, host, options);
    };
    for (const auto& kind :
         {DocumentKind{.name = "namespace",
                       .plural = "namespaces",
                       .help = "Tenants' shares of a server",
                       .is_plain = true},
          DocumentKind{
              .name = "route", .plural = "routes", .help = "How events without a run find theirs"},
          DocumentKind{.name = "source",
                       .plural = "sources",
                       .help = "Where a server takes events from",
                       .goes_on = true},
          DocumentKind{.name = "schedule",
                       .plural = "schedules",
                       .help = "What happens when it is time",
                       .goes_on = true},
          DocumentKind{
              .name = "function", .plural = "functions", .help = "What can be invoked by name"}}) {
        auto add = [&](const std::string& verb, const std::string& help,
                       std::vector<std::string> words, Act act) {
            commands.push_back(
                command_of(host, kind, verb, help, std::move(words), std::move(act)));
        };
        commands.push_back({.name = kind.name, .help = kind.help});
        add("list", "List them", {}, list_documents);
        if (!kind.is_plain) {
            add("get", "Show one", {"NAME"}, get_document);
        }
        add("set", "Set it up, or change it", {"[NAME]", "-f,--file"}, set);
        add("delete", "Remove it", {"NAME"}, delete_document);
        for (const auto* verb : {"pause", "resume"}) {
            if (kind.goes_on) {
                add(verb, fmt::format("Let it {}", verb == std::string{"pause"} ? "rest" : "go on"),
                    {"NAME"}, [verb](client::Client& client, const DocumentOptions& options) {
                        return tell_document(client, verb, options);
                    });
            }
        }
    }
    return commands;
}

} // namespace sluice::cli

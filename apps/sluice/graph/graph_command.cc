#include "sluice/graph/graph_command.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/ioctl.h>
#include <unistd.h>

#include "client/client.h"
#include "graph/writers.h"
#include "sluice/definition_file.h"
#include "sluice/languages.h"
#include "sluice/output.h"
#include "workflow/asl/draw.h"
#include "workflow/dag/draw.h"
#include "workflow/raw/draw.h"

namespace sluice::app {

namespace {

constexpr auto columns_otherwise = std::size_t{160};

/// Each language knows its triggers; what none knows is drawn as plain ones.
::sluice::graph::Graph draw(const std::string& title, std::span<const Value> triggers) {
    if (workflow::asl::has_states(triggers)) {
        return workflow::asl::draw(title, triggers);
    }
    return workflow::dag::has_tasks(triggers) ? workflow::dag::draw(title, triggers)
                                              : workflow::raw::draw(title, triggers);
}

std::expected<::sluice::graph::Graph, ExitCode> draw_file(const std::string& file) {
    auto text = read_text(file);
    if (!text) {
        return std::unexpected(report(text.error()));
    }
    auto loaded = load_definition(*std::move(text), file, make_vocabulary(), {.are_all = true});
    if (!loaded) {
        say_findings(loaded.error());
        return std::unexpected(ExitCode::Invalid);
    }
    auto triggers = std::vector<Value>{};
    for (const auto& trigger : loaded->definition.form.find("triggers")->as_list()) {
        triggers.push_back(Value::object({{"trigger", trigger}}));
    }
    return draw(loaded->definition.name, triggers);
}

std::expected<::sluice::graph::Graph, ExitCode> draw_run(const cli::Host& host,
                                                         const GraphOptions& options) {
    auto client = options.connection.open(host);
    if (!client) {
        return std::unexpected(report(client.error()));
    }
    auto state = client->get(client::path_of({"v1", "runs", options.subject, "state"}));
    auto shown = state ? client->get(client::path_of({"v1", "runs", options.subject, "triggers"}),
                                     {{"last", "true"}})
                       : state;
    if (!shown) {
        return std::unexpected(cli::report(*client, shown.error(), options.subject));
    }
    const auto* triggers = shown->find("triggers");
    auto title = fmt::format("{} {}: {}", text_at(*state, "definition"), options.subject,
                             text_at(*state, "status"));
    return draw(title, triggers == nullptr ? std::span<const Value>{} : triggers->as_list());
}

/// A name that is or looks like a file's means the file, unless somebody is named who could know
/// the run.
bool is_file(const GraphOptions& options) {
    const auto& subject = options.subject;
    auto ignored = std::error_code{};
    auto ending = std::filesystem::path{subject}.extension();
    auto looks_like_one =
        subject.contains('/') || ending == ".yaml" || ending == ".yml" || ending == ".json";
    return options.connection.data.empty() && options.connection.server.empty() &&
           (subject == "-" || looks_like_one || std::filesystem::exists(subject, ignored));
}

bool is_utf8_terminal() {
    for (const auto* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const auto* value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): nobody sets it.
        if (value != nullptr && *value != '\0') {
            auto text = std::string_view{value};
            return text.contains("UTF-8") || text.contains("utf8") || text.contains("UTF8") ||
                   text.contains("utf-8");
        }
    }
    return false;
}

::sluice::graph::TextOptions text_options(const GraphOptions& options) {
    auto text = ::sluice::graph::TextOptions{.columns_max = columns_otherwise};
    auto size = winsize{};
    if (options.width > 0) {
        text.columns_max = options.width;
    } else if (options.output.empty() && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
               size.ws_col > 0) {
        text.columns_max = size.ws_col;
    }
    if (options.is_ascii || (options.output.empty() && !is_utf8_terminal())) {
        text.letters = ::sluice::graph::Letters::Ascii;
    }
    return text;
}

std::string write(const ::sluice::graph::Graph& graph, const GraphOptions& options) {
    if (options.format == "svg") {
        return to_svg(graph);
    }
    if (options.format == "dot") {
        return to_dot(graph);
    }
    return options.format == "mermaid" ? to_mermaid(graph) : to_text(graph, text_options(options));
}

Result<void> write_file(const std::string& path, const std::string& text) {
    auto file = std::ofstream{path, std::ios::binary};
    file << text;
    file.close();
    if (!file) {
        return fail(Errc::Io, "cannot write {}: {}", path, std::strerror(errno));
    }
    return {};
}

} // namespace

ExitCode graph(const cli::Host& host, const GraphOptions& options) {
    auto drawn = is_file(options) ? draw_file(options.subject) : draw_run(host, options);
    if (!drawn) {
        return drawn.error();
    }
    auto text = write(*drawn, options);
    if (options.output.empty()) {
        cli::print_text(text);
        return ExitCode::Ok;
    }
    auto written = write_file(options.output, text);
    return written ? ExitCode::Ok : report(written.error());
}

} // namespace sluice::app

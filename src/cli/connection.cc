#include "cli/connection.h"

#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/nearest.h"
#include "cli/internal/profiles.h"
#include "cli/output.h"

namespace sluice::cli {

namespace {

constexpr auto compared_runs_max = std::size_t{1'000};

std::string environment(const char* name) {
    const auto* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::string first_of(std::initializer_list<std::string> texts) {
    for (const auto& text : texts) {
        if (!text.empty()) {
            return text;
        }
    }
    return {};
}

/// The one that is named, or the current one; none of its fields are set without.
Result<Profile> chosen_profile(const Host& host, const std::string& named) {
    auto profiles = TRY(read_profiles(host, profiles_file()));
    auto name = first_of({named, environment("SLUICE_PROFILE"), profiles.current});
    return name.empty() ? Profile{} : profiles.find(name);
}

/// A run that begins like that, or else is spelled nearly so.
std::string meant_run(client::Client& client, std::string_view run) {
    auto ids = std::vector<std::string>{};
    auto listing = client.runs({.page = compared_runs_max});
    for (const auto& each : listing) {
        auto id = text_at(each, "run");
        if (id.starts_with(run)) {
            return id;
        }
        ids.push_back(std::move(id));
        if (ids.size() == compared_runs_max) {
            break;
        }
    }
    auto views = std::vector<std::string_view>{ids.begin(), ids.end()};
    return std::string{nearest(run, views)};
}

ExitCode code_of_problem(const client::Problem& problem) {
    if (problem.status == 401 || problem.status == 403) {
        return ExitCode::Refused;
    }
    // To others a conflict is a directory in use; a server says that it is not the time for this.
    if (problem.status == 409) {
        return ExitCode::Invalid;
    }
    return exit_code_of(static_cast<const Error&>(problem));
}

} // namespace

void Connection::add_to(Command& command) {
    auto words = std::vector<Word>{{.name = "--server",
                                    .target = &server,
                                    .help = "The server to ask; or SLUICE_SERVER",
                                    .value = "URL"},
                                   {.name = "--token",
                                    .target = &token,
                                    .help = "Who asks; or, better, SLUICE_TOKEN",
                                    .value = "TOKEN"},
                                   {.name = "--namespace",
                                    .target = &space,
                                    .help = "The namespace; or SLUICE_NAMESPACE",
                                    .value = "NAME"},
                                   {.name = "--ca",
                                    .target = &ca,
                                    .help = "Certificates to trust; or SLUICE_CA",
                                    .value = "FILE",
                                    .completes = Completes::File},
                                   {.name = "--profile",
                                    .target = &profile,
                                    .help = "A profile of the config file; or SLUICE_PROFILE",
                                    .value = "NAME"}};
    command.words.insert(command.words.end(), words.begin(), words.end());
}

void Connection::add_with_data_to(Command& command) {
    add_to(command);
    command.words.push_back({.name = "--data",
                             .target = &data,
                             .help = "A data directory that no server holds, in place of a server",
                             .value = "DIR",
                             .completes = Completes::Folder});
}

Result<client::Client> Connection::open(const Host& host) const {
    auto options = client::ClientOptions{
        .token = {}, .space = first_of({space, environment("SLUICE_NAMESPACE")})};
    if (!data.empty()) {
        options.timeout = Nanos{0};
        return client::Client{TRY(host.open_data(data)), std::move(options)};
    }
    options.timeout = timeout;
    auto socket = client::SocketOptions{};
    auto named = first_of({server, environment("SLUICE_SERVER")});
    auto chosen = Profile{};
    // A profile's token is for its own server: it is not shown to one that was named besides.
    if (named.empty() || !profile.empty()) {
        chosen = TRY(chosen_profile(host, profile));
    }
    if (!named.empty() && named != chosen.server) {
        chosen.token.clear();
    }
    socket.server = first_of({named, chosen.server, socket.server});
    socket.ca_file = first_of({ca, environment("SLUICE_CA"), chosen.ca});
    options.token = first_of({token, environment("SLUICE_TOKEN"), chosen.token});
    options.space = first_of({options.space, chosen.space});
    return client::Client::connect(socket, std::move(options));
}

ExitCode report(const client::Problem& problem) {
    auto advice = std::string{};
    if (problem.status == 401) {
        advice = ": give one with SLUICE_TOKEN, --token or a profile";
    } else if (problem.status == 0 && problem.code == Errc::Unavailable) {
        advice =
            "\n`sluice serve` starts a server here; --server URL, SLUICE_SERVER or a profile "
            "names another";
    }
    say("sluice: {}{}", problem.message, advice);
    const auto* findings = problem.document.find("findings");
    for (const auto& each : findings != nullptr && findings->is_list() ? findings->as_list()
                                                                       : std::span<const Value>{}) {
        auto path = text_at(each, "path");
        say("  {}{}", path.empty() ? "" : path + ": ", text_at(each, "message"));
    }
    return code_of_problem(problem);
}

ExitCode report(client::Client& client, const client::Problem& problem, std::string_view run) {
    auto told = problem;
    if (problem.status == 404) {
        if (auto meant = meant_run(client, run); !meant.empty() && meant != run) {
            told.message += fmt::format("; did you mean `{}`?", meant);
        }
    }
    return report(told);
}

} // namespace sluice::cli

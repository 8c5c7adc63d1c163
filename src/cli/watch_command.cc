#include <memory>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/internal/live_view.h"
#include "cli/internal/run_ending.h"
#include "cli/output.h"
#include "value/json.h"

namespace sluice::cli {

namespace {

struct WatchOptions {
    Connection connection;
    std::string run;
    std::uint64_t before = 10; ///< Events from before it was begun.
    bool is_json = false;
};

constexpr auto rows_kept_free = std::size_t{4};

/// What became of it, or nothing while it goes on.
client::Answer<Value> ending_of(client::Client& client, const std::string& run) {
    auto state = TRY(client.run(run));
    const auto* ended = state.find("ended");
    return ended == nullptr || ended->is_null() ? Value{} : state;
}

class Watcher {
public:
    explicit Watcher(const WatchOptions& options) : options_(options) {
        auto size = winsize{};
        auto is_terminal = ::isatty(STDOUT_FILENO) == 1 && !options.is_json;
        if (is_terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
            size.ws_row > rows_kept_free && size.ws_col > 0) {
            view_.emplace(options.run, size.ws_col, size.ws_row - rows_kept_free);
        }
    }

    void tell(const Value& entry) {
        if (view_) {
            view_->add(entry);
            print_text(view_->draw("running"));
        } else {
            print_line(options_.is_json ? value::to_json(entry) : event_line(entry));
        }
    }

private:
    const WatchOptions& options_;
    std::optional<LiveView> view_;
};

/// Until the run has ended; what it ended with.
client::Answer<Value> follow_run(client::Client& client, const WatchOptions& options) {
    auto state = TRY(client.run(options.run));
    const auto* counts = state.find("counts");
    auto events = counts == nullptr ? Value{} : *counts;
    const auto* count = events.find("events");
    auto last = count != nullptr && count->is_int() ? static_cast<std::uint64_t>(count->as_int())
                                                    : std::uint64_t{0};
    auto after = last > options.before ? last - options.before : 0;
    auto watcher = Watcher{options};
    const auto* ended = state.find("ended");
    auto has_ended = ended != nullptr && !ended->is_null();
    auto is_over = [&](std::uint64_t number) { return has_ended && number >= last; };
    if (is_over(after)) {
        return state;
    }
    TRY(client.follow(client::path_of({"v1", "runs", options.run, "live"}),
                      [&](const client::ServerSentEvent& event) {
                          if (event.type == "gap") {
                              say("some events are left out: `sluice events {}` has them",
                                  options.run);
                              return true;
                          }
                          auto entry = value::parse_json(event.data);
                          if (event.type != "decided" || !entry) {
                              return true;
                          }
                          watcher.tell(*entry);
                          has_ended |= has_ended_run(*entry);
                          const auto* number = entry->find("event");
                          auto at = number != nullptr && number->is_int()
                                        ? static_cast<std::uint64_t>(number->as_int())
                                        : std::uint64_t{0};
                          return !is_over(at);
                      },
                      {{"after", fmt::format("{}", after)}}));
    return TRY(ending_of(client, options.run));
}

ExitCode watch(const Host& host, const WatchOptions& options) {
    auto client = options.connection.open(host);
    if (!client) {
        return report(client.error());
    }
    auto ending = follow_run(*client, options);
    if (!ending) {
        return report(*client, ending.error(), options.run);
    }
    auto status = text_at(*ending, "status");
    if (options.is_json) {
        return tell_ending(options.run, *ending, true);
    }
    if (status == "succeeded") {
        say("run {} succeeded: {}", options.run,
            brief(ending->find("result") == nullptr ? Value{} : *ending->find("result"), 2'000));
        return ExitCode::Ok;
    }
    return tell_ending(options.run, *ending, false);
}

} // namespace

Command watch_command(const Host& host) {
    auto options = std::make_shared<WatchOptions>();
    auto command = Command{.name = "watch",
                           .help = "Follow a run live until it has ended",
                           .words = {run_word(options->run),
                                     {.name = "--before",
                                      .target = &options->before,
                                      .help = "Events to begin with that came before [10]",
                                      .value = "N"},
                                     json_word(options->is_json, "As JSON, one line each")},
                           .run = [&host, options] { return watch(host, *options); }};
    options->connection.add_to(command);
    return command;
}

} // namespace sluice::cli

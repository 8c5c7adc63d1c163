#include <cerrno>
#include <cstring>
#include <memory>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/connection.h"
#include "cli/internal/event_lines.h"
#include "cli/internal/random_id.h"
#include "cli/json_option.h"
#include "cli/output.h"
#include "event/builder.h"

namespace sluice::cli {

namespace {

struct SendOptions {
    Connection connection;
    std::string run;
    std::string file;
    std::string type;
    std::string id;
    std::string source = "/sluice/cli";
    std::string subject;
    std::string scope;
    std::string data;
    std::vector<std::string> attributes;
    bool is_json = false;
};

Result<Event> event_of(const SendOptions& options) {
    auto id = options.id.empty() ? random_id(16) : options.id;
    auto builder = event::Builder{id, options.source, options.type};
    builder.subject(options.subject).scope(options.scope).time(SystemClock{}.wall());
    if (!options.data.empty()) {
        builder.data(TRY(read_json_option("--event-data", options.data)));
    }
    for (const auto& each : options.attributes) {
        auto equals = each.find('=');
        if (equals == 0 || equals == std::string::npos) {
            return fail(Errc::InvalidInput, "--attribute {}: expected name=value", each);
        }
        builder.attribute(each.substr(0, equals), Value{each.substr(equals + 1)});
    }
    // Only the codec knows what is valid.
    return event::Codec{}.parse(builder.build().json());
}

/// Sends, and remembers how many were taken.
class Sender {
public:
    Sender(client::Client& client, const std::string& run) : client_(client), run_(run) {}

    client::Answer<void> send(const std::vector<Event>& events) {
        auto reply = TRY(client_.send(events, run_));
        sent_ += events.size();
        reply_ = reply.is_null() ? reply_ : reply;
        return {};
    }

    /// As they come: what is there goes off before more is waited for.
    client::Answer<void> send_all_of(int descriptor, const std::string& file) {
        auto lines = EventLines{};
        auto space = std::vector<char>(std::size_t{256} << 10U);
        while (true) {
            auto count = ::read(descriptor, space.data(), space.size());
            if (count < 0 && errno == EINTR) {
                continue;
            }
            if (count < 0) {
                return fail(Errc::Io, "cannot read {}: {}", file, std::strerror(errno));
            }
            if (count == 0) {
                return send(TRY(lines.finish()));
            }
            auto bytes = std::string_view{space.data(), static_cast<std::size_t>(count)};
            auto events = TRY(lines.feed(bytes));
            TRY(send(std::move(events)));
        }
    }

    std::size_t sent() const { return sent_; }
    const Value& reply() const { return reply_; }

private:
    client::Client& client_;
    const std::string& run_;
    std::size_t sent_ = 0;
    Value reply_;
};

client::Answer<void> send_file(Sender& sender, const std::string& file) {
    if (file == "-") {
        return sender.send_all_of(STDIN_FILENO, "standard input");
    }
    auto descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) {
        return fail(errno == ENOENT ? Errc::NotFound : Errc::Io, "cannot read {}: {}", file,
                    std::strerror(errno));
    }
    auto sent = sender.send_all_of(descriptor, file);
    ::close(descriptor);
    return sent;
}

client::Answer<void> send_given(Sender& sender, const SendOptions& options) {
    if (!options.file.empty()) {
        return send_file(sender, options.file);
    }
    return sender.send({TRY(event_of(options))});
}

ExitCode send(const Host& host, const SendOptions& options) {
    if (options.file.empty() == options.type.empty()) {
        return report(Error{Errc::InvalidInput,
                            "give an event with --type, or several with --file FILE (- is "
                            "standard input)"});
    }
    auto client = options.connection.open(host);
    if (!client) {
        return report(client.error());
    }
    auto sender = Sender{*client, options.run};
    auto sent = send_given(sender, options);
    if (!sent) {
        if (sender.sent() > 0) {
            say("{} events were taken before this:", sender.sent());
        }
        return options.run.empty() ? report(sent.error())
                                   : report(*client, sent.error(), options.run);
    }
    if (options.is_json) {
        print_json(Value::object({{"sent", number(sender.sent())}, {"reply", sender.reply()}}));
    } else {
        say("{} event{} taken", sender.sent(), sender.sent() == 1 ? "" : "s");
        if (!sender.reply().is_null()) {
            print_json(sender.reply());
        }
    }
    return ExitCode::Ok;
}

} // namespace

Command send_command(const Host& host) {
    auto options = std::make_shared<SendOptions>();
    auto command = Command{
        .name = "send",
        .help = "Send events to a run, or to whatever routes say",
        .words =
            {{.name = "RUN",
              .target = &options->run,
              .help = "The run; otherwise events name theirs, or a route finds it",
              .completes = Completes::Run},
             {.name = "-f,--file",
              .target = &options->file,
              .help = "CloudEvents, one a line, or a JSON list; - is standard input",
              .value = "FILE",
              .completes = Completes::File},
             {.name = "--type", .target = &options->type, .help = "Of the event", .value = "TYPE"},
             {.name = "--event-data",
              .target = &options->data,
              .help = "Its data: JSON, or @FILE",
              .value = "JSON"},
             {.name = "--subject",
              .target = &options->subject,
              .help = "Its subject",
              .value = "TEXT"},
             {.name = "--id",
              .target = &options->id,
              .help = "Its id: sent again with the same, it counts once",
              .value = "ID"},
             {.name = "--source", .target = &options->source, .help = "Its source", .value = "URI"},
             {.name = "--scope",
              .target = &options->scope,
              .help = "The scope inside the run",
              .value = "PATH"},
             {.name = "--attribute",
              .target = &options->attributes,
              .help = "A further attribute; may be repeated",
              .value = "NAME=VALUE"},
             json_word(options->is_json, "What was sent, and a trigger's reply")},
        .run = [&host, options] { return send(host, *options); }};
    options->connection.add_to(command);
    return command;
}

} // namespace sluice::cli

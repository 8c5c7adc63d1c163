#include <atomic>
#include <charconv>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "server/inspect/history_view.h"
#include "server/internal/requests.h"
#include "server/services.h"
#include "value/json.h"
#include "value/wording.h"

// What happens, as server-sent events.
namespace sluice::server {

namespace {

constexpr auto page_bytes = std::size_t{32} << 10U;
constexpr auto retry_interval = std::chrono::milliseconds{100};

const http::Response stream_head = {
    .status = 200,
    .headers = {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}},
    .body = {}};

/// A place among the readers and the stream of it; nothing when there is none, and that is
/// answered.
struct Place {
    LiveReaderId id;
    std::shared_ptr<http::Stream> stream;
    std::shared_ptr<std::atomic<bool>> is_gone;
};

std::optional<Place> take_place(const Services& services, const Reply& reply) {
    auto id = services.live.reserve();
    if (!id) {
        answer(reply, problem_of({Errc::Unavailable,
                                  "too many read live already: ask again "
                                  "later"}));
        return std::nullopt;
    }
    auto is_gone = std::make_shared<std::atomic<bool>>(false);
    auto stream = reply->stream(stream_head, [&live = services.live, id = *id, is_gone] {
        is_gone->store(true);
        live.leave(id);
    });
    stream->offer("retry: 1000\n\n");
    return Place{.id = *id, .stream = std::move(stream), .is_gone = std::move(is_gone)};
}

std::string last_id_of(const Incoming& incoming) {
    const auto* header = incoming.request.headers.find("Last-Event-ID");
    const auto* parameter = incoming.query("after");
    if (header != nullptr) {
        return *header;
    }
    return parameter == nullptr ? std::string{} : *parameter;
}

void follow(const Services& services, const Incoming& incoming, const Reply& reply, LiveTopic topic,
            std::function<bool(const LiveMessage&)> wants) {
    if (auto place = take_place(services, reply)) {
        services.live.join(place->id, topic, {},
                           {.stream = place->stream, .wants = std::move(wants), .after = {}},
                           last_id_of(incoming));
    }
}

bool is_like(const Value& about, std::string_view name, const std::string& wanted) {
    if (wanted.empty()) {
        return true;
    }
    auto text = value::text_at(about, name);
    return wanted.ends_with('*')
               ? text.starts_with(std::string_view{wanted}.substr(0, wanted.size() - 1))
               : text == wanted;
}

void follow_runs(const Services& services, const Incoming& incoming, const Reply& reply) {
    auto known = check_query(incoming, {"status", "definition", "label", "after"});
    auto query = known ? read_run_query(incoming, {"after"})
                       : Result<RunQuery>{std::unexpected(known.error())};
    if (!query) {
        answer(reply, problem_of(query.error()));
        return;
    }
    if (!query->filter.label.empty()) {
        query->labels.push_back(query->filter.label);
    }
    auto status = query->filter.status ? std::string{to_string(*query->filter.status)} : "";
    follow(services, incoming, reply, LiveTopic::Runs,
           [query = *std::move(query), status](const LiveMessage& message) {
               const auto* labels = message.about.find("labels");
               return message.space == query.filter.space &&
                      is_like(message.about, "status", status) &&
                      is_like(message.about, "definition", query.filter.definition) &&
                      query.matches({.definition = {},
                                     .labels = labels == nullptr ? Value{} : *labels,
                                     .parent = {}});
           });
}

void follow_events(const Services& services, const Incoming& incoming, const Reply& reply) {
    if (auto known = check_query(incoming, {"type", "subject", "source", "after"}); !known) {
        answer(reply, problem_of(known.error()));
        return;
    }
    auto wanted = std::vector<std::pair<std::string, std::string>>{};
    for (const auto* name : {"type", "subject", "source"}) {
        if (const auto* text = incoming.query(name)) {
            wanted.emplace_back(name, *text);
        }
    }
    follow(services, incoming, reply, LiveTopic::Events,
           [space = incoming.space, wanted = std::move(wanted)](const LiveMessage& message) {
               return message.space == space && std::ranges::all_of(wanted, [&](const auto& each) {
                          return is_like(message.about, each.first, each.second);
                      });
           });
}

void follow_metrics(const Services& services, const Incoming& incoming, const Reply& reply) {
    if (auto known = check_query(incoming, {}); !known) {
        answer(reply, problem_of(known.error()));
        return;
    }
    follow(services, incoming, reply, LiveTopic::Metrics, {});
}

/// Gives a reader the history that it has not read, a page at a time as it takes them, and lets it
/// follow live from there.
class CatchUp : public std::enable_shared_from_this<CatchUp> {
public:
    CatchUp(const Services& services, engine::RunName run, Place place, std::uint64_t next)
        : services_(services), run_(std::move(run)), place_(std::move(place)), next_(next) {}

    void go_on() {
        auto is_taken = services_.workers.try_post([self = shared_from_this()] { self->read(); });
        if (!is_taken) {
            wait();
        }
    }

private:
    void wait() {
        services_.timers.after(retry_interval, [self = shared_from_this()] { self->go_on(); });
    }

    void read() {
        if (place_.is_gone->load()) {
            return;
        }
        auto inspector = engine::Inspector{services_.store, services_.vocabulary};
        auto text = std::string{};
        auto next = next_;
        auto is_read = inspector.read_history(
            run_,
            [&](const trigger::Entry& entry) {
                next = entry.number.raw() + 1;
                text += sent_event(
                    "decided", fmt::format("{}", entry.number.raw()),
                    value::to_json(inspect::entry_view(entry, inspect::EntryDetail::Changes)));
                return text.size() < page_bytes;
            },
            trigger::EventNumber{next_});
        if (!is_read || text.empty()) {
            services_.live.go_live(place_.id, next_);
        } else if (place_.stream->offer(std::move(text))) {
            next_ = next;
            go_on();
        } else {
            wait();
        }
    }

    const Services& services_;
    engine::RunName run_;
    Place place_;
    std::uint64_t next_;
};

void join_run(const Services& services, const engine::RunName& run, const Reply& reply,
              std::optional<std::uint64_t> after) {
    auto place = take_place(services, reply);
    if (!place) {
        return;
    }
    services.live.join(place->id, LiveTopic::Run, run,
                       {.stream = place->stream,
                        .wants = {},
                        .after = after,
                        .is_catching_up = after.has_value()});
    if (!after) {
        return;
    }
    // What was decided before anybody wanted it is in history once this is answered.
    auto catch_up = std::make_shared<CatchUp>(services, run, *std::move(place), *after + 1);
    services.engine.query(
        run, [](const trigger::RunState*) { return Result<Value>{Value{}}; },
        [catch_up](const Result<Value>&) { catch_up->go_on(); });
}

Result<std::optional<std::uint64_t>> read_after(const Incoming& incoming) {
    TRY(check_query(incoming, {"after"}));
    auto text = last_id_of(incoming);
    auto number = std::uint64_t{0};
    if (text.empty()) {
        return std::nullopt;
    }
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) {
        return fail(Errc::InvalidInput,
                    "Last-Event-ID \"{}\": expected the number of an event, such as 17", text);
    }
    return number;
}

void follow_run(const Services& services, const Incoming& incoming, const Reply& reply) {
    auto after = read_after(incoming);
    if (!after) {
        answer(reply, problem_of(after.error()));
        return;
    }
    auto run = name_of(incoming);
    services.engine.query(
        run,
        [id = run.id](const trigger::RunState* state) -> Result<Value> {
            if (state == nullptr) {
                return fail(Errc::NotFound, "there is no run \"{}\"", id);
            }
            return Value{};
        },
        [&services, run, reply, after = *after](const Result<Value>& found) {
            if (found) {
                join_run(services, run, reply, after);
            } else {
                answer(reply, problem_of(found.error()));
            }
        });
}

} // namespace

void add_live_routes(RouteTable& routes, const Services& services) {
    auto add = [&](const char* pattern, Policy policy,
                   void (*handle)(const Services&, const Incoming&, const Reply&)) {
        routes.add({http::Method::Get, pattern, policy,
                    [&services, handle](const Incoming& incoming, const Reply& reply) {
                        if (incoming.request.method == http::Method::Head) {
                            reply->answer(stream_head);
                        } else {
                            handle(services, incoming, reply);
                        }
                    }});
    };
    add("/v1/live/runs", {Role::Reader, true}, follow_runs);
    add("/v1/live/events", {Role::Reader, true}, follow_events);
    add("/v1/live/metrics", {Role::Reader, false}, follow_metrics);
    add("/v1/runs/{run}/live", {Role::Reader, true}, follow_run);
}

} // namespace sluice::server

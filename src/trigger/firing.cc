#include "trigger/firing.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "event/builder.h"
#include "event/trace.h"
#include "expr/cel/template.h"

namespace sluice::trigger {

namespace {

constexpr auto scope_bytes_max = std::size_t{1024};
constexpr auto scope_depth_max = 32;

std::unexpected<expr::Fault> faulty(std::string_view code, std::string message) {
    return std::unexpected(expr::Fault{.code = std::string{code}, .message = std::move(message)});
}

bool is_path(std::string_view path) {
    return !path.empty() && path.size() <= scope_bytes_max && path.front() != '/' &&
           path.back() != '/' && path.find("//") == std::string_view::npos &&
           std::ranges::count(path, '/') < scope_depth_max;
}

} // namespace

Firing::Firing(Decider& decider, const event::Event& event, TriggerNumber trigger,
               Incarnation scope, FireNumber fire, std::uint64_t progress)
    : decider_(decider),
      event_(event),
      trigger_(trigger),
      scope_(scope),
      fire_(fire),
      progress_(progress),
      bindings_(decider.state(), decider.triggers(), event, decider.moment(), trigger, scope) {
    if (const auto* path = decider.state().path_of(scope)) {
        path_ = *path;
    }
}

Attempt<void> Firing::require_scope() const {
    if (state().path_of(scope_) == nullptr) {
        return faulty("no_such_scope", fmt::format("scope \"{}\" was closed by now", path_));
    }
    return {};
}

Attempt<Value> Firing::evaluate(const expr::cel::Template& pattern) const {
    auto outcome = pattern.evaluate(bindings_);
    if (auto* failed = std::get_if<expr::Fault>(&outcome)) {
        return std::unexpected(std::move(*failed));
    }
    return std::get<Value>(std::move(outcome));
}

Attempt<std::string> Firing::evaluate_text(const expr::cel::Template& pattern,
                                           std::string_view what) const {
    auto value = TRY(evaluate(pattern));
    if (!value.is_string()) {
        return faulty("wrong_kind",
                      fmt::format("{} is a {}: expected a text", what, to_string(value.kind())));
    }
    return std::string{value.as_string()};
}

Attempt<std::string> Firing::scope_path(std::string_view written) const {
    const auto& own = path_;
    if (written.empty()) {
        return own;
    }
    if (written == "..") {
        auto slash = own.rfind('/');
        return slash == std::string::npos ? std::string{} : own.substr(0, slash);
    }
    auto is_absolute = written.front() == '/';
    auto path = is_absolute ? std::string{written.substr(1)}
                            : own + (own.empty() ? "" : "/") + std::string{written};
    if (!path.empty() && !is_path(path)) {
        return faulty(
            "invalid_scope",
            fmt::format("\"{}\" is no scope: expected a path such as resize/17", written));
    }
    return path;
}

Attempt<Incarnation> Firing::scope_named(std::string_view written) const {
    auto path = TRY(scope_path(written));
    auto scope = state().scope_at(path);
    if (!scope) {
        return faulty("no_such_scope", fmt::format("scope \"{}\" is not open", path));
    }
    return *scope;
}

Attempt<Incarnation> Firing::open_scope(std::string_view written, const Value& variables) {
    auto path = TRY(scope_path(written));
    if (auto open = state().scope_at(path)) {
        return *open;
    }
    // Those around it come first, so that closing one of them closes this one.
    auto slash = path.rfind('/');
    auto parent = slash == std::string::npos
                      ? root_scope
                      : TRY(open_scope("/" + path.substr(0, slash), Value{}));
    auto incarnation = Incarnation{state().progress.incarnations + 1};
    record(ScopeOpened{
        .path = path,
        .scope = {.incarnation = incarnation, .parent = parent, .variables = variables}});
    return incarnation;
}

Attempt<TriggerNumber> Firing::trigger_named(std::string_view id) const {
    auto number = decider_.triggers().find(id);
    if (!number) {
        return faulty("no_such_trigger", fmt::format("there is no trigger \"{}\"", id));
    }
    return *number;
}

namespace {

event::Event build(const Firing& firing, const Firing::Outgoing& outgoing, const TaskKey& key) {
    auto id = fmt::format("{}/{}", key.fire.raw(), key.index);
    auto made = event::Builder{id, fmt::format("/runs/{}", firing.state().id), outgoing.type};
    if (!outgoing.subject.empty()) {
        made.subject(outgoing.subject);
    }
    if (!outgoing.scope.empty()) {
        made.scope(outgoing.scope);
    }
    if (!outgoing.data.is_null()) {
        made.data(outgoing.data);
    }
    if (const auto& trace = firing.trace(); !trace.empty()) {
        auto cause = fmt::format("{}#{}", firing.state().id, firing.state().progress.events);
        made.attribute("traceparent", event::trace_under(trace, cause));
    }
    return made.build();
}

} // namespace

const std::string& Firing::trace() const {
    if (!trace_) {
        trace_ = event::trace_of(event_);
    }
    return *trace_;
}

void Firing::emit(const Outgoing& outgoing, Incarnation into) {
    auto event = build(*this, outgoing, next_key());
    record(Emitted{.event = {.number = state().progress.emitted + 1,
                             .scope = into,
                             .json = std::string{event.json()},
                             .event = event}});
}

void Firing::send(const Outgoing& outgoing, bool is_sink, const std::string& target) {
    auto key = next_key();
    auto event = build(*this, outgoing, key);
    if (!is_sink) {
        record(Sent{.target = target,
                    .json = std::string{event.json()},
                    .key = key,
                    .scope = scope_,
                    .trigger = trigger_});
        return;
    }
    // In the root: it leaves also when the scope it was sent from is closed.
    record(TaskOpened{.key = key,
                      .task = {.kind = TaskKind::Sink,
                               .target = target,
                               .subject = target,
                               .input = event.whole(),
                               .scope = root_scope,
                               .trigger = trigger_}});
}

void Firing::reply(Value data) {
    const auto& sender = decider_.sender();
    if (sender) {
        auto about = Value::object(
            {{"id", event_.id()}, {"type", event_.type()}, {"subject", event_.subject()}});
        data = Value::object({{"run", state().id}, {"event", about}, {"reply", std::move(data)}});
    }
    record(Replied{.data = std::move(data), .to = sender});
}

std::uint64_t Firing::reserve(std::uint64_t count) {
    return base_ + std::exchange(item_offset_, item_offset_ + count);
}

void Firing::begin_action(std::uint32_t position) {
    action_ = position;
    base_ += item_offset_;
    item_offset_ = 0;
}

void Firing::resume(Resumed resumed) {
    action_ = resumed.action;
    base_ = resumed.base;
    item_offset_ = resumed.next;
    continued_ = std::move(resumed);
}

Attempt<Firing::Slice> Firing::slice(const expr::cel::Template& each) {
    return slice(continued_ ? Value{} : TRY(evaluate(each)));
}

Attempt<Firing::Slice> Firing::slice(Value items) {
    auto slice = Slice{};
    slice.items = continued_ ? continued_->items : std::move(items);
    if (slice.items.is_list()) {
        slice.count = slice.items.size();
    } else if (slice.items.is_int() && slice.items.as_int() >= 0) {
        slice.count = static_cast<std::uint64_t>(slice.items.as_int());
    } else {
        return faulty("wrong_kind", fmt::format("each is a {}: expected a list or a count",
                                                to_string(slice.items.kind())));
    }
    slice.begin = continued_ ? continued_->next : 0;
    // Commands are not continued: whoever sends one waits for all of it.
    auto items_max = trigger_ == command_trigger ? std::numeric_limits<std::uint64_t>::max()
                                                 : decider_.limits().slice_items_max;
    slice.end = slice.begin + std::min(items_max, slice.count - slice.begin);
    return slice;
}

void Firing::set_item(std::uint64_t index, const Value& items) {
    auto item = items.is_list() ? items.as_list()[index] : Value{static_cast<std::int64_t>(index)};
    bindings_.set_item(index, std::move(item));
}

void Firing::finish_slice(const Slice& slice) {
    auto is_done = slice.end == slice.count;
    if (continued_) {
        if (!state().continuations.contains(continued_->number)) {
            return; // An item closed the scope, or ended the run.
        }
        record(Advanced{.number = continued_->number, .next = slice.end, .is_done = is_done});
        return;
    }
    if (is_done || state().is_over() || state().path_of(scope_) == nullptr) {
        return;
    }
    auto number = state().progress.continuations + 1;
    record(Continued{.number = number,
                     .continuation = {.trigger = trigger_,
                                      .fire = fire_,
                                      .scope = scope_,
                                      .action = action_,
                                      .base = base_,
                                      .items = slice.items,
                                      .event = std::string{event_.json()}}});
    record(Advanced{.number = number, .next = slice.end});
    // What follows in this firing is numbered behind all items.
    item_offset_ = std::max(item_offset_, slice.count);
}

} // namespace sluice::trigger

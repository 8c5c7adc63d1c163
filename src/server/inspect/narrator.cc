#include "server/inspect/narrator.h"

#include <utility>

#include "value/archive.h"
#include "value/json.h"
#include "value/time_text.h"
#include "value/wording.h"

namespace sluice::server::inspect {

namespace {

template <typename Map, typename Key>
const typename Map::mapped_type* find_in(const Map& map, const Key& key) {
    auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
}

std::string in_text(const trigger::Entry& entry, std::string_view member) {
    auto event = value::parse_json(entry.json);
    return event ? text_at(*event, member) : std::string{};
}

std::string event_text(const std::string& json) {
    auto event = value::parse_json(json);
    if (!event) {
        return "?";
    }
    auto subject = text_at(*event, "subject");
    auto scope = text_at(*event, "scope");
    return fmt::format("{}{}{}", text_at(*event, "type"), subject.empty() ? "" : " of " + subject,
                       scope.empty() ? "" : " in " + scope);
}

} // namespace

EventHeading heading_of(const trigger::Entry& entry) {
    auto event = value::parse_json(entry.json);
    if (!event) {
        return {};
    }
    return {.id = text_at(*event, "id"),
            .source = text_at(*event, "source"),
            .type = text_at(*event, "type"),
            .subject = text_at(*event, "subject"),
            .scope = text_at(*event, "scope")};
}

void Narrator::note(const trigger::Entry& entry) {
    auto by = trigger::command_trigger;
    if (entry.origin == trigger::Origin::Continue) {
        if (const auto* cause = find_in(continuations_, entry.refs[0])) {
            by = cause->trigger;
        }
    }
    for (const auto& change : entry.changes) {
        note_change(entry, change, by);
    }
}

void Narrator::note_change(const trigger::Entry& entry, const trigger::Change& change,
                           trigger::TriggerNumber& by) {
    auto cause = [&](std::string what) { return Cause{entry.number, by, std::move(what)}; };
    if (const auto* fired = std::get_if<trigger::Fired>(&change)) {
        by = fired->trigger;
    } else if (const auto* opened = std::get_if<trigger::ScopeOpened>(&change)) {
        scopes_[opened->scope.incarnation] = opened->path;
    } else if (const auto* task = std::get_if<trigger::TaskOpened>(&change)) {
        tasks_[task->key] = cause(task->task.target);
    } else if (const auto* timer = std::get_if<trigger::TimerSet>(&change)) {
        timers_[timer->number.raw()] = cause(timer->timer.name);
    } else if (const auto* emitted = std::get_if<trigger::Emitted>(&change)) {
        emitted_[emitted->event.number] = cause({});
    } else if (const auto* continued = std::get_if<trigger::Continued>(&change)) {
        continuations_[continued->number] = cause({});
    } else if (const auto* changed = std::get_if<trigger::Overridden>(&change);
               changed != nullptr && !changed->form.is_null()) {
        added_[changed->trigger] = text_at(changed->form, "id");
    } else if (std::holds_alternative<trigger::Renewed>(change)) {
        added_.clear();
    }
}

std::string Narrator::name(trigger::TriggerNumber number) const {
    const auto* added = find_in(added_, number);
    return added == nullptr ? names_(number) : *added;
}

std::string Narrator::place(trigger::Incarnation scope) const {
    if (scope == trigger::root_scope) {
        return {};
    }
    const auto* path = find_in(scopes_, scope);
    return fmt::format(" in {}", path == nullptr ? fmt::format("scope {}", scope.raw()) : *path);
}

std::string Narrator::blame(const Cause* cause, std::string_view verb) const {
    if (cause == nullptr) {
        return {};
    }
    return fmt::format(", which {} {} on event #{}", name(cause->trigger), verb,
                       cause->event.raw());
}

std::string Narrator::origin(const trigger::Entry& entry) const {
    const auto& refs = entry.refs;
    switch (entry.origin) {
        case trigger::Origin::Outside:
            return fmt::format("it came from outside, from {}", in_text(entry, "source"));
        case trigger::Origin::Own:
            if (const auto* cause = find_in(emitted_, refs[0])) {
                return fmt::format("the run emitted it: {} did, on event #{}", name(cause->trigger),
                                   cause->event.raw());
            }
            return "the run emitted it itself";
        case trigger::Origin::Task: {
            auto key = trigger::TaskKey{.fire = trigger::FireNumber{refs[0]}, .index = refs[1]};
            const auto* cause = find_in(tasks_, key);
            return fmt::format("it answers attempt {} of task {}/{}{}{}", refs[2], refs[0], refs[1],
                               cause == nullptr ? "" : ", " + cause->what, blame(cause, "began"));
        }
        case trigger::Origin::Timer: {
            const auto* cause = find_in(timers_, refs[0]);
            auto what = cause == nullptr || cause->what.empty() ? "" : " \"" + cause->what + "\"";
            return fmt::format("timer {}{} fired{}", refs[0], what, blame(cause, "set"));
        }
        case trigger::Origin::Command: return "it is a command of the engine or an operator";
        case trigger::Origin::Kept:
            return fmt::format("it had waited since it came as event #{} and was delivered now",
                               refs[0]);
        case trigger::Origin::Continue: {
            const auto* cause = find_in(continuations_, refs[0]);
            return "it is the next slice of a long action" + blame(cause, "began");
        }
        case trigger::Origin::Run:
            return fmt::format("another run sent it: {}", in_text(entry, "source"));
        case trigger::Origin::Returned:
            return fmt::format("run {} answers event {}/{}, which was sent to it",
                               in_text(entry, "subject"), refs[0], refs[1]);
        case trigger::Origin::Sweep: return "it removes the next slice of what was closed";
    }
    return "its origin is unknown";
}

std::string Narrator::fate(const trigger::Entry& entry) const {
    switch (entry.fate) {
        case trigger::Fate::Parked:
            return "it waits: the triggers that match it are disabled, or its scope is held";
        case trigger::Fate::Kept: return "it waits: no trigger matches it yet";
        case trigger::Fate::Unmatched: return "no trigger matches it, and it was let go";
        case trigger::Fate::Duplicate:
            return "it was taken before under the same source and id, so nothing was done";
        case trigger::Fate::Late:
            return "it is late: its trigger has fired and gone, its scope or task is closed, or "
                   "the run "
                   "has ended";
        case trigger::Fate::Refused:
            return "it was refused: the run keeps as many events as it may; it can be sent again";
        case trigger::Fate::Busy:
            return "it has to wait where it came from: the run keeps as many events as it may";
        case trigger::Fate::NoSuchRun: return "there is no such run";
        case trigger::Fate::Sent: return "it is on its way";
        case trigger::Fate::Retried: return "the attempt failed, and another follows";
        case trigger::Fate::Failed: return "something failed on it";
        case trigger::Fate::Activated:
            return entry.changes.empty() ? "it met triggers, and none of them fired" : "";
        case trigger::Fate::Fired:
        case trigger::Fate::Handled: break;
    }
    return {};
}

/// One sentence for each kind of change.
class Narrator::Sentence {
public:
    explicit Sentence(const Narrator& narrator) : narrator_(narrator) {}

    std::string operator()(const trigger::Activated& change) const {
        auto count = change.progress == 0 ? "" : fmt::format(": {} so far", change.progress);
        return fmt::format("{} was activated{}", trigger_in(change), count);
    }
    std::string operator()(const trigger::Fired& change) const {
        return fmt::format("{} fired (fire {}){}", trigger_in(change), change.fire.raw(),
                           change.is_gone ? " and is gone" : "");
    }
    std::string operator()(const trigger::Faulted& change) const {
        return fmt::format("{} failed: {}: {}", narrator_.name(change.trigger), change.code,
                           change.message);
    }
    std::string operator()(const trigger::Switched& change) const {
        return fmt::format("{} was {}", trigger_in(change),
                           change.enabled == trigger::Switch::Off ? "disabled" : "enabled");
    }
    std::string operator()(const trigger::Remembered& change) const {
        return fmt::format("{} remembers {}", trigger_in(change), brief(change.memory));
    }
    std::string operator()(const trigger::Overridden& change) const {
        return fmt::format("{} was {}", narrator_.name(change.trigger),
                           change.form.is_null() ? "removed" : "added or changed");
    }
    std::string operator()(const trigger::ContextSet& change) const {
        return fmt::format("the run's context became {}", brief(change.context));
    }
    std::string operator()(const trigger::TaskOpened& change) const {
        const auto& task = change.task;
        return task.kind == trigger::TaskKind::Run
                   ? fmt::format("run {} of {} was started (task {})", task.child, task.target,
                                 key_text(change.key))
                   : fmt::format("{} was invoked (task {}) with {}", task.target,
                                 key_text(change.key), brief(task.input));
    }
    std::string operator()(const trigger::TaskClosed& change) const {
        return fmt::format("task {} {}", key_text(change.key),
                           change.is_cancelled ? "was cancelled" : "is done");
    }
    std::string operator()(const trigger::TaskRetried& change) const {
        return fmt::format("task {} goes on with attempt {}", key_text(change.key), change.attempt);
    }
    std::string operator()(const trigger::TimerSet& change) const {
        return fmt::format("timer {}{} was set, due {}", change.number.raw(),
                           change.timer.name.empty() ? "" : " " + change.timer.name,
                           value::format_time(change.timer.due));
    }
    std::string operator()(const trigger::TimerRemoved& change) const {
        return fmt::format("timer {} was removed", change.number.raw());
    }
    std::string operator()(const trigger::EventKept& change) const {
        return fmt::format("it was put aside ({})", to_string(change.event.reason));
    }
    std::string operator()(const trigger::EventReleased& change) const {
        return fmt::format(
            "event #{} {}", change.number.raw(),
            change.is_expired ? "waited too long and was dropped" : "waits no longer");
    }
    std::string operator()(const trigger::Emitted& change) const {
        return fmt::format("emitted {}", event_text(change.event.json));
    }
    std::string operator()(const trigger::Sent& change) const {
        return fmt::format("sent {} to {}", event_text(change.json), change.target);
    }
    std::string operator()(const trigger::Ended& change) const {
        return fmt::format("the run ended: {}{}", to_string(change.status),
                           change.error.is_null() ? "" : ": " + describe_error(change.error));
    }
    std::string operator()(const trigger::Began& change) const {
        return fmt::format("the run began, with {}", brief(change.info.input));
    }
    std::string operator()(const trigger::Renewing& change) const {
        return fmt::format("the run continued as new, with {}", brief(change.renewal.input));
    }
    std::string operator()(const trigger::Renewed& change) const {
        return fmt::format("generation {} began", change.generation);
    }
    std::string operator()(const trigger::Swept& change) const {
        return change.path.empty() ? "all that the run had open is gone"
                                   : "scope " + change.path + " is gone";
    }
    std::string operator()(const trigger::Reopened& change) const {
        return fmt::format("the run was reopened: generation {} began", change.generation);
    }
    /// The rest is rare enough to be shown as it stands.
    template <typename Other>
    std::string operator()(const Other& change) const {
        return fmt::format("{} {}", trigger::name_of(change),
                           brief(value::ArchiveView::view(change)));
    }

private:
    template <typename Change>
    std::string trigger_in(const Change& change) const {
        return narrator_.name(change.trigger) + narrator_.place(change.scope);
    }
    static std::string key_text(const trigger::TaskKey& key) {
        return fmt::format("{}/{}", key.fire.raw(), key.index);
    }

    const Narrator& narrator_;
};

std::vector<std::string> Narrator::consequences(const trigger::Entry& entry) const {
    auto sentences = std::vector<std::string>{};
    for (const auto& change : entry.changes) {
        sentences.push_back(std::visit(Sentence{*this}, change));
    }
    return sentences;
}

} // namespace sluice::server::inspect

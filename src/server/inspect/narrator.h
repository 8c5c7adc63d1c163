#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/inspector.h"
#include "trigger/history.h"

namespace sluice::server::inspect {

/// The event of a history entry, as far as people are told of it.
struct EventHeading {
    std::string id;
    std::string source;
    std::string type;
    std::string subject;
    std::string scope;
};
EventHeading heading_of(const trigger::Entry& entry);

/// Tells in sentences what deciding did. Entries are noted in their order, so that later ones can
/// be explained by earlier ones: who invoked the task that was answered, who set the timer that
/// fired.
class Narrator {
public:
    explicit Narrator(std::function<std::string(trigger::TriggerNumber)> names)
        : names_(std::move(names)) {}

    void note(const trigger::Entry& entry);

    /// `it is the answer of task 3/0, resize, which trigger split invoked on event #2`
    std::string origin(const trigger::Entry& entry) const;
    /// Why it was not simply taken: nothing when it was.
    std::string fate(const trigger::Entry& entry) const;
    /// What followed, in order.
    std::vector<std::string> consequences(const trigger::Entry& entry) const;

private:
    class Sentence;
    struct Cause {
        trigger::EventNumber event;
        trigger::TriggerNumber trigger;
        std::string what;
    };

    void note_change(const trigger::Entry& entry, const trigger::Change& change,
                     trigger::TriggerNumber& by);
    std::string place(trigger::Incarnation scope) const;
    std::string name(trigger::TriggerNumber number) const;
    std::string blame(const Cause* cause, std::string_view verb) const;

    std::function<std::string(trigger::TriggerNumber)> names_;
    /// Of the generation being told of: a later one gives their numbers to others.
    std::map<trigger::TriggerNumber, std::string> added_;
    std::map<trigger::Incarnation, std::string> scopes_;
    std::map<trigger::TaskKey, Cause> tasks_;
    std::map<std::uint64_t, Cause> timers_;
    std::map<std::uint64_t, Cause> emitted_;
    std::map<std::uint64_t, Cause> continuations_;
};

} // namespace sluice::server::inspect

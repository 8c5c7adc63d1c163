#include "trigger/testing/naive_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sluice::trigger::testing {

namespace {

constexpr auto scope_depth_max = 32;
constexpr auto fire_depth_max = 64;
constexpr auto fires_per_event_max = std::size_t{10'000};

std::string text_in(const Value& params, std::string_view member) {
    const auto* found = params.find(member);
    return found == nullptr ? std::string{} : std::string{found->as_string()};
}

std::optional<std::int64_t> number_in(const Value& params, std::string_view member) {
    const auto* found = params.find(member);
    return found == nullptr ? std::nullopt : std::optional{found->as_int()};
}

/// A path as an action writes it, seen from a scope; nothing when it is none.
std::optional<std::string> resolve(const std::string& written, const std::string& own) {
    if (written.empty()) {
        return own;
    }
    if (written == "..") {
        return own.contains('/') ? own.substr(0, own.rfind('/')) : std::string{};
    }
    auto path =
        written.front() == '/' ? written.substr(1) : (own.empty() ? written : own + "/" + written);
    return std::ranges::count(path, '/') < scope_depth_max ? std::optional{path} : std::nullopt;
}

} // namespace

NaiveModel::NaiveModel(SetSpec spec, ModelLimits limits) : spec_(std::move(spec)), limits_(limits) {
    for (const auto& trigger : spec_.triggers) {
        triggers_.push_back({.spec = trigger, .memory = {}});
    }
}

// Entries

void NaiveModel::open_entry() {
    number_ = ++events_;
    fired_.clear();
    is_outside_ = false;
    has_failed_ = false;
}

void NaiveModel::close_entry(Fate fate) {
    outcomes_.push_back({.number = events_, .fate = fate, .fired = fired_});
}

void NaiveModel::start() {
    open_entry();
    turn_events_ = 0;
    auto fate = deliver(0, {.source = "",
                            .id = "",
                            .type = "sluice.run.started",
                            .subject = "",
                            .scope = "",
                            .key = std::nullopt});
    close_entry(fate == Fate::Unmatched ? Fate::Handled : fate);
    settle();
}

void NaiveModel::take(const ModelEvent& event) {
    open_entry();
    is_outside_ = true;
    turn_events_ = 0;
    auto fate = Fate::Late;
    if (!has_ended_) {
        own_events_ = 0;
        auto is_new =
            spec_.dedupe == DedupeMode::None || seen_.emplace(event.source, event.id).second;
        auto scope = scope_at(event.scope);
        if (!is_new) {
            fate = Fate::Duplicate;
        } else if (scope) {
            fate = deliver(*scope, event);
        }
        if (fate == Fate::Refused || fate == Fate::Busy) {
            seen_.erase({event.source, event.id});
        }
    }
    close_entry(fate);
    settle();
}

void NaiveModel::take_turn() {
    turn_events_ = 0;
    settle();
}

void NaiveModel::settle() {
    while (!has_ended_ && (deliver_oldest_kept() || deliver_own())) {
    }
}

bool NaiveModel::would_take(const Kept& kept) const {
    if (kept.has_failed) {
        return false;
    }
    if (!is_open(kept.scope)) {
        return true; // Late now.
    }
    return std::ranges::any_of(triggers_, [&](const Trigger& trigger) {
        return !trigger.is_removed && is_enabled(trigger, kept.scope) &&
               !is_gone(trigger, kept.scope) && !patterns_met(trigger, kept.event).empty();
    });
}

bool NaiveModel::deliver_oldest_kept() {
    std::ranges::sort(kept_, {}, &Kept::number);
    auto oldest = std::ranges::find_if(kept_, [&](const Kept& kept) { return would_take(kept); });
    if (oldest == kept_.end()) {
        return false;
    }
    auto kept = *oldest;
    kept_.erase(oldest);
    open_entry();
    number_ = kept.number;
    close_entry(is_open(kept.scope) ? deliver(kept.scope, kept.event) : Fate::Late);
    return true;
}

bool NaiveModel::deliver_own() {
    if (own_.empty() || turn_events_ >= limits_.own_events_per_turn_max) {
        return false;
    }
    ++turn_events_;
    open_entry();
    if (++own_events_ > limits_.own_events_max) {
        has_ended_ = true;
        close_entry(Fate::Handled);
        return true;
    }
    auto own = own_.front();
    own_.pop_front();
    close_entry(is_open(own.scope) ? deliver(own.scope, own.event) : Fate::Late);
    return true;
}

// Delivery

Fate NaiveModel::deliver(Scope scope, const ModelEvent& event) {
    auto is_taken = false;
    auto is_parked = false;
    auto is_missed = false;
    auto matching = std::vector<std::size_t>{};
    for (auto at = std::size_t{0}; at < triggers_.size(); ++at) {
        if (!triggers_[at].is_removed && !patterns_met(triggers_[at], event).empty()) {
            matching.push_back(at);
        }
    }
    for (auto at : matching) {
        const auto& trigger = triggers_[at];
        if (has_ended_ || !is_open(scope) || trigger.is_removed) {
            continue;
        }
        if (is_gone(trigger, scope)) {
            is_missed = true;
        } else if (!is_enabled(trigger, scope)) {
            (trigger.spec.while_disabled == WhileDisabled::Park ? is_parked : is_missed) = true;
        } else {
            is_taken = true;
            activate(at, scope, patterns_met(trigger, event), event);
        }
    }
    if (has_failed_) {
        return Fate::Failed;
    }
    if (is_taken) {
        return fired_.empty() ? Fate::Activated : Fate::Fired;
    }
    if (is_parked) {
        return keep(scope, event, Fate::Parked);
    }
    auto is_kept = !is_missed && spec_.keeps_unmatched && !event.type.starts_with("sluice.");
    return is_missed ? Fate::Late : is_kept ? keep(scope, event, Fate::Kept) : Fate::Unmatched;
}

Fate NaiveModel::keep(Scope scope, const ModelEvent& event, Fate fate) {
    if (kept_.size() >= spec_.kept_max) {
        // What nobody can send again fails the run.
        if (is_outside_ && spec_.kept_full != KeptFull::Fail) {
            return spec_.kept_full == KeptFull::Refuse ? Fate::Refused : Fate::Busy;
        }
        has_ended_ = true;
        return Fate::Failed;
    }
    kept_.push_back({.number = number_, .event = event, .scope = scope});
    return fate;
}

void NaiveModel::activate(std::size_t at, Scope scope, const std::vector<std::size_t>& patterns,
                          const ModelEvent& event) {
    auto& trigger = triggers_[at];
    switch (ask(trigger, trigger.memory[scope], patterns, event)) {
        case Answer::Wait: return;
        case Answer::Fire: fire(at, scope, event); return;
        case Answer::Fault: fault(trigger.spec, event); return;
    }
}

NaiveModel::Answer NaiveModel::ask(Trigger& trigger, Memory& memory,
                                   const std::vector<std::size_t>& patterns,
                                   const ModelEvent& event) {
    const auto& name = trigger.spec.condition.name;
    if (name == "always") {
        return Answer::Fire;
    }
    if (name == "sequence") {
        return ask_sequence(trigger, memory, patterns);
    }
    if (name == "all") {
        memory.met.insert(patterns.begin(), patterns.end());
        return memory.met.size() == trigger.spec.on.size() ? Answer::Fire : Answer::Wait;
    }
    const auto& params = trigger.spec.condition.params;
    if (params.is_map() && params.find("distinct") != nullptr) {
        if (!event.key) {
            return Answer::Fault;
        }
        if (std::ranges::find(memory.seen, *event.key) != memory.seen.end()) {
            return Answer::Wait;
        }
        memory.seen.push_back(*event.key);
    }
    ++memory.count;
    return ask_count(trigger, memory, event);
}

NaiveModel::Answer NaiveModel::ask_sequence(const Trigger& trigger, Memory& memory,
                                            const std::vector<std::size_t>& patterns) {
    auto meets = [&](std::size_t pattern) {
        return std::ranges::find(patterns, pattern) != patterns.end();
    };
    const auto* strict = trigger.spec.condition.params.find("strict");
    if (meets(memory.count)) {
        ++memory.count;
    } else if (strict != nullptr && strict->as_bool()) {
        memory.count = meets(0) ? 1 : 0;
    }
    return memory.count == trigger.spec.on.size() ? Answer::Fire : Answer::Wait;
}

NaiveModel::Answer NaiveModel::ask_count(const Trigger& trigger, Memory& memory,
                                         const ModelEvent& /*event*/) {
    const auto& [name, params] = trigger.spec.condition;
    auto context = memory.context.value_or(trigger.spec.context);
    auto needed = std::optional<std::int64_t>{};
    if (name == "count") {
        needed = params.is_int() ? std::optional{params.as_int()} : number_in(params, "n");
        auto learned = number_in(context, "n");
        needed = learned ? learned : needed;
    } else if (const auto* share = params.find("share")) {
        auto learned = number_in(context, "of");
        auto whole = learned ? learned : number_in(params, "of");
        if (whole) {
            needed = static_cast<std::int64_t>(
                std::ceil(share->as_double() * static_cast<double>(*whole)));
        }
    } else {
        needed = number_in(params, "k");
    }
    auto is_enough = needed && static_cast<std::int64_t>(memory.count) >= *needed;
    return is_enough ? Answer::Fire : Answer::Wait;
}

// Firing

void NaiveModel::fire(std::size_t at, Scope scope, const ModelEvent& event) {
    if (depth_ == fire_depth_max || fired_.size() == fires_per_event_max) {
        has_failed_ = true;
        has_ended_ = true;
        return;
    }
    auto& memory = triggers_[at].memory[scope];
    memory.count = 0;
    memory.seen.clear();
    memory.met.clear();
    memory.is_gone = triggers_[at].spec.lifetime == Lifetime::Transient;
    fired_.push_back(triggers_[at].spec.id);

    ++depth_;
    auto path = std::string{};
    for (const auto& [name, incarnation] : open_scopes_) {
        path = incarnation == scope ? name : path;
    }
    auto interceptors = interceptors_of(triggers_[at].spec);
    intercept(interceptors, InterceptWhen::Before, scope, event);
    if (!intercept(interceptors, InterceptWhen::Instead, scope, event)) {
        if (!perform(at, scope, path, event)) {
            fault(triggers_[at].spec, event);
        }
    }
    intercept(interceptors, InterceptWhen::After, scope, event);
    --depth_;
}

std::vector<std::size_t> NaiveModel::interceptors_of(const TriggerSpec& target) const {
    auto found = std::vector<std::size_t>{};
    for (auto at = std::size_t{0}; at < triggers_.size(); ++at) {
        const auto& intercept = triggers_[at].spec.intercept;
        if (triggers_[at].is_removed || !intercept) {
            continue;
        }
        auto by_id = intercept->trigger == target.id;
        auto by_condition = intercept->condition == target.condition.name && !target.intercept;
        if (by_id || by_condition) {
            found.push_back(at);
        }
    }
    return found;
}

bool NaiveModel::intercept(const std::vector<std::size_t>& interceptors, InterceptWhen when,
                           Scope scope, const ModelEvent& event) {
    auto before = fired_.size();
    for (auto at : interceptors) {
        const auto& trigger = triggers_[at];
        auto acts = !trigger.is_removed && trigger.spec.intercept->when == when && !has_ended_ &&
                    is_open(scope) && !is_gone(trigger, scope) && is_enabled(trigger, scope);
        if (acts) {
            activate(at, scope, {}, event);
        }
    }
    return fired_.size() != before;
}

void NaiveModel::fault(const TriggerSpec& spec, const ModelEvent& event) {
    has_failed_ = true;
    if (spec.on_error == OnError::Fail) {
        has_ended_ = true;
    }
    auto is_kept =
        std::ranges::any_of(kept_, [&](const Kept& kept) { return kept.number == number_; });
    if (spec.on_error == OnError::Park && !is_kept && kept_.size() >= spec_.kept_max) {
        has_ended_ = true;
    } else if (spec.on_error == OnError::Park && !is_kept) {
        kept_.push_back({.number = number_, .event = event, .has_failed = true});
    }
}

// Actions

bool NaiveModel::perform(std::size_t at, Scope scope, const std::string& path,
                         const ModelEvent& event) {
    for (const auto& term : triggers_[at].spec.actions) {
        if (!has_ended_ && !act(at, term, scope, path, event)) {
            return false;
        }
    }
    return true;
}

bool NaiveModel::act(std::size_t at, const Term& term, Scope scope, const std::string& path,
                     const ModelEvent& event) {
    if (term.name == "finish") {
        has_ended_ = true;
        return true;
    }
    if (term.name == "set") {
        return set(at, term.params, scope, event);
    }
    if (term.name == "emit") {
        return emit(term.params, scope, path);
    }
    if (term.name == "add") {
        return add(*term.params.find("trigger"));
    }
    if (term.name == "open" || term.name == "close") {
        auto named = resolve(text_in(term.params, "scope"), path);
        if (!named || (term.name == "close" && named->empty())) {
            return false;
        }
        if (term.name == "open") {
            open(*named);
        } else if (open_scopes_.contains(*named)) {
            std::erase_if(open_scopes_, [&](const auto& each) {
                return each.first == *named || each.first.starts_with(*named + "/");
            });
        }
        return true;
    }
    auto other = find(text_in(term.params, "trigger"));
    if (!other) {
        return false;
    }
    if (term.name == "remove") {
        triggers_[*other].is_removed = true;
        return true;
    }
    if (!is_open(scope)) {
        return false;
    }
    triggers_[*other].memory[scope].switched = term.name == "enable";
    return true;
}

bool NaiveModel::set(std::size_t at, const Value& params, Scope scope, const ModelEvent& event) {
    auto put = [&](std::size_t into, const Value& over) {
        if (!is_open(scope) || triggers_[into].is_removed) {
            return false;
        }
        auto context = context_of(triggers_[into], scope);
        for (const auto& [key, value] : over.as_map()) {
            context = context.with(key, value);
        }
        triggers_[into].memory[scope].context = context;
        return true;
    };
    if (const auto* own = params.find("context")) {
        return put(at, *own);
    }
    for (const auto& [id, over] : params.find("triggers")->as_map()) {
        auto other = find(id);
        if (!other || !put(*other, over)) {
            return false;
        }
        recheck(*other, scope, event);
        if (has_ended_) {
            break;
        }
    }
    return true;
}

void NaiveModel::recheck(std::size_t at, Scope scope, const ModelEvent& event) {
    auto& trigger = triggers_[at];
    const auto& name = trigger.spec.condition.name;
    if (is_gone(trigger, scope) || !is_enabled(trigger, scope) ||
        (name != "count" && name != "threshold")) {
        return;
    }
    if (ask_count(trigger, trigger.memory[scope], event) == Answer::Fire) {
        fire(at, scope, event);
    }
}

bool NaiveModel::emit(const Value& params, Scope scope, const std::string& path) {
    auto written = text_in(params, "scope");
    auto named = resolve(written, path);
    if (!named) {
        return false;
    }
    auto into = written.empty() ? scope : *open(*named);
    if (!is_open(into)) {
        return false;
    }
    const auto* data = params.find("data");
    own_.push_back({.event = {.source = "own",
                              .id = "",
                              .type = text_in(params, "type"),
                              .subject = text_in(params, "subject"),
                              .scope = *named,
                              .key = data == nullptr ? std::nullopt : number_in(*data, "k")},
                    .scope = into});
    return true;
}

bool NaiveModel::add(const Value& form) {
    auto problems = std::vector<Problem>{};
    auto spec = parse_trigger(form, "", problems);
    if (!problems.empty() || find(spec.id)) {
        return false;
    }
    if (spec.intercept && !spec.intercept->trigger.empty()) {
        if (!find(spec.intercept->trigger)) {
            return false;
        }
        auto at = spec.intercept->trigger;
        while (!at.empty()) {
            if (at == spec.id) {
                return false;
            }
            auto next = find(at);
            at = next && triggers_[*next].spec.intercept ? triggers_[*next].spec.intercept->trigger
                                                         : "";
        }
    }
    triggers_.push_back({.spec = spec, .memory = {}});
    return true;
}

// Looking things up, one by one

bool NaiveModel::is_enabled(const Trigger& trigger, Scope scope) const {
    auto found = trigger.memory.find(scope);
    return found == trigger.memory.end() ? trigger.spec.is_enabled
                                         : found->second.switched.value_or(trigger.spec.is_enabled);
}

bool NaiveModel::is_gone(const Trigger& trigger, Scope scope) const {
    auto found = trigger.memory.find(scope);
    return found != trigger.memory.end() && found->second.is_gone;
}

bool NaiveModel::is_open(Scope scope) const {
    return scope == 0 || std::ranges::any_of(
                             open_scopes_, [&](const auto& each) { return each.second == scope; });
}

std::optional<NaiveModel::Scope> NaiveModel::scope_at(const std::string& path) const {
    auto found = open_scopes_.find(path);
    return path.empty()
               ? std::optional{Scope{0}}
               : (found == open_scopes_.end() ? std::nullopt : std::optional{found->second});
}

std::optional<NaiveModel::Scope> NaiveModel::open(const std::string& path) {
    if (auto there = scope_at(path)) {
        return there;
    }
    if (path.contains('/')) {
        open(path.substr(0, path.rfind('/'))); // What is inside one can be closed with it.
    }
    return open_scopes_[path] = ++last_scope_;
}

std::optional<std::size_t> NaiveModel::find(std::string_view id) const {
    for (auto at = std::size_t{0}; at < triggers_.size(); ++at) {
        if (!triggers_[at].is_removed && triggers_[at].spec.id == id) {
            return at;
        }
    }
    return std::nullopt;
}

std::vector<std::size_t> NaiveModel::patterns_met(const Trigger& trigger,
                                                  const ModelEvent& event) const {
    auto met = std::vector<std::size_t>{};
    for (auto at = std::size_t{0}; at < trigger.spec.on.size(); ++at) {
        if (trigger.spec.on[at].matches(event.type, event.subject)) {
            met.push_back(at);
        }
    }
    return met;
}

Value NaiveModel::context_of(const Trigger& trigger, Scope scope) const {
    auto found = trigger.memory.find(scope);
    return found != trigger.memory.end() && found->second.context ? *found->second.context
                                                                  : trigger.spec.context;
}

} // namespace sluice::trigger::testing

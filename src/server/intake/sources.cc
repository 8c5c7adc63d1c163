#include "server/intake/sources.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trigger/ids.h"

namespace sluice::server::intake {

namespace {

Problem invalid_source(std::string detail) {
    return {.status = 400, .code = "invalid_input", .detail = std::move(detail)};
}

Problem no_source(std::string_view name) {
    return {.status = 404,
            .code = "not_found",
            .detail = fmt::format("there is no source \"{}\"", name)};
}

std::optional<Problem> to_problem(const Result<void>& result) {
    return result ? std::nullopt : std::optional{problem_of(result.error())};
}

std::string kind_of(const Value& form) {
    const auto* value = form.find("kind");
    return value != nullptr && value->is_string() ? std::string{value->as_string()} : "";
}

bool is_paused(const Value& form) {
    const auto* value = form.find("paused");
    return value != nullptr && value->is_bool() && value->as_bool();
}

/// The run of `to: {run}`; empty for the routes.
std::string run_of(const Value& form) {
    const auto* to = form.find("to");
    const auto* run = to == nullptr ? nullptr : to->find("run");
    return run != nullptr && run->is_string() ? std::string{run->as_string()} : "";
}

/// What only the kind understands.
Value own_part(const Value& form) {
    return form.without("kind").without("to").without("paused");
}

} // namespace

std::optional<Problem> S3Kind::check(const Value& form) const {
    return form.size() == 0 ? std::nullopt
                            : std::optional{invalid_source(
                                  "a source of kind s3 has no members but kind, to and paused")};
}

std::unique_ptr<RunningSource> S3Kind::run(const Value& /*form*/, SourceFeed& /*feed*/) const {
    return nullptr;
}

Sources::Sources(Documents& documents, EventRouter& router, const Clock& clock, Kinds kinds)
    : documents_(documents), router_(router), clock_(clock), kinds_(std::move(kinds)) {
    for (const auto& [space, name, form] : documents_.list(kind)) {
        install({space, name}, form);
    }
}

Sources::~Sources() {
    stop();
}

void Sources::start() {
    auto changing = std::lock_guard{changing_};
    has_started_ = true;
    for (const auto& [space, name, form] : documents_.list(kind)) {
        install({space, name}, form);
    }
}

void Sources::stop() {
    auto changing = std::lock_guard{changing_};
    has_started_ = false;
    auto running = std::vector<std::unique_ptr<RunningSource>>{};
    auto lock = std::lock_guard{mutex_};
    for (auto& [key, entry] : entries_) {
        running.push_back(std::move(entry.running));
    }
}

std::optional<Problem> Sources::check(const Value& form) const {
    auto found = kinds_.find(kind_of(form));
    if (found == kinds_.end()) {
        auto known = std::vector<std::string>{};
        for (const auto& [name, each] : kinds_) {
            known.push_back(name);
        }
        return invalid_source(fmt::format("kind: expected one of {}", fmt::join(known, ", ")));
    }
    const auto* to = form.find("to");
    if (to != nullptr && (!to->is_map() || to->size() != 1 || !trigger::is_run_id(run_of(form)))) {
        return invalid_source("to: expected {\"run\": ID}; without it, routes say where events go");
    }
    const auto* paused = form.find("paused");
    if (paused != nullptr && !paused->is_bool()) {
        return invalid_source("paused: expected true or false");
    }
    return found->second->check(own_part(form));
}

/// What ran under this name ends first.
void Sources::install(const Key& key, const Value& form) {
    auto lock = std::unique_lock{mutex_};
    auto before = entries_.extract(key);
    lock.unlock();
    if (!before.empty()) {
        before.mapped().running.reset();
    }
    auto entry = Entry{.form = form,
                       .feed = std::make_shared<SourceFeed>(key.first, key.second, run_of(form),
                                                            router_, documents_, clock_)};
    auto found = kinds_.find(kind_of(form));
    if (found == kinds_.end()) {
        entry.feed->note_error("this program has no sources of kind " + kind_of(form));
    } else if (has_started_ && !is_paused(form)) {
        // What was allowed when it was set up may not be any more.
        if (auto problem = found->second->check(own_part(form))) {
            entry.feed->note_error(problem->detail);
        } else {
            entry.running = found->second->run(own_part(form), *entry.feed);
        }
    }
    lock.lock();
    entries_.insert_or_assign(key, std::move(entry));
}

void Sources::follow(const std::string& space, const std::string& name) {
    auto changing = std::lock_guard{changing_};
    if (auto stored = documents_.find(kind, space, name)) {
        install({space, name}, stored->content);
        return;
    }
    auto lock = std::unique_lock{mutex_};
    auto entry = entries_.extract(Key{space, name});
    lock.unlock();
    // What it had running ends here, with nothing held that it may wait for.
}

std::optional<Problem> Sources::put(std::string_view space, std::string_view name,
                                    const Value& form) {
    if (auto problem = check(form)) {
        return problem;
    }
    auto changing = std::lock_guard{changing_};
    auto stored = documents_.put(kind, {std::string{space}, std::string{name}, form});
    if (!stored) {
        return problem_of(stored.error());
    }
    install({std::string{space}, std::string{name}}, form);
    return std::nullopt;
}

std::optional<Problem> Sources::remove(std::string_view space, std::string_view name) {
    auto changing = std::lock_guard{changing_};
    auto key = Key{space, name};
    auto lock = std::unique_lock{mutex_};
    auto entry = entries_.extract(key);
    lock.unlock();
    if (entry.empty()) {
        return no_source(name);
    }
    entry.mapped().running.reset();
    if (documents_.find(SourceFeed::state_kind, space, name)) {
        if (auto removed = documents_.remove(SourceFeed::state_kind, space, name); !removed) {
            return problem_of(removed.error());
        }
    }
    return to_problem(documents_.remove(kind, space, name));
}

std::optional<Problem> Sources::set_paused(std::string_view space, std::string_view name,
                                           bool paused) {
    auto stored = documents_.find(kind, space, name);
    return stored ? put(space, name, stored->content.with("paused", paused)) : no_source(name);
}

Value Sources::view_of(const Key& key, const Entry& entry) const {
    auto found = kinds_.find(kind_of(entry.form));
    auto form = found == kinds_.end() ? entry.form : found->second->shown(entry.form);
    return form.with("source", key.second)
        .with("paused", is_paused(entry.form))
        .with("state", entry.feed->status());
}

Result<Value> Sources::view(std::string_view space, std::string_view name) const {
    auto lock = std::lock_guard{mutex_};
    auto found = entries_.find(Key{space, name});
    if (found == entries_.end()) {
        return fail(Errc::NotFound, "there is no source \"{}\"", name);
    }
    return view_of(found->first, found->second);
}

std::vector<Value> Sources::list(std::string_view space) const {
    auto lock = std::lock_guard{mutex_};
    auto views = std::vector<Value>{};
    for (const auto& [key, entry] : entries_) {
        if (key.first == space) {
            views.push_back(view_of(key, entry));
        }
    }
    return views;
}

std::expected<std::shared_ptr<SourceFeed>, Problem> Sources::feed_of(
    std::string_view space, std::string_view name, std::string_view of_kind) const {
    auto lock = std::lock_guard{mutex_};
    auto found = entries_.find(Key{space, name});
    if (found == entries_.end() || kind_of(found->second.form) != of_kind) {
        return std::unexpected(no_source(name));
    }
    if (is_paused(found->second.form)) {
        return std::unexpected(Problem{.status = 503,
                                       .code = "unavailable",
                                       .detail = fmt::format("the source {} is paused", name),
                                       .headers = {{"Retry-After", "60"}}});
    }
    return found->second.feed;
}

} // namespace sluice::server::intake

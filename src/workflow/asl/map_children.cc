#include "workflow/asl/map_children.h"

#include <algorithm>
#include <utility>

#include "value/wording.h"

namespace sluice::workflow::asl {

namespace {

using value::text_at;

std::uint64_t told_count(const Value& told, std::string_view name) {
    const auto* found = told.find(name);
    return found != nullptr && found->is_int() ? static_cast<std::uint64_t>(found->as_int()) : 0;
}

/// These may become each other.
bool is_without_success(std::string_view status) {
    return status == "FAILED" || status == "ABORTED" || status == "PENDING_REDRIVE";
}

Value end_in(const Value& told) {
    auto end = Value::map({});
    for (auto name : {"output", "error", "cause"}) {
        if (const auto* found = told.find(name)) {
            end = end.with(name, *found);
        }
    }
    return end;
}

} // namespace

void MapChildren::hear(const trigger::Moment& moment, const Value& told) {
    if (text_at(told, "execution") != query_.execution) {
        return;
    }
    if (told.find("id") != nullptr) {
        hear_event(moment, told);
    } else if (told.find("index") != nullptr &&
               text_at(told, "mapRun").ends_with(":" + query_.run)) {
        hear_child(moment, told);
    }
}

void MapChildren::hear_event(const trigger::Moment& moment, const Value& told) {
    auto type = text_at(told, "type");
    const auto* details = told.find("details");
    auto is_of_run =
        details != nullptr && text_at(*details, "mapRunArn").ends_with(":" + query_.run);
    if (type == "MapRunStarted" && is_of_run) {
        event_ = told_count(told, "id");
    } else if (type == "MapRunRedriven" && is_of_run) {
        event_ = told_count(told, "id");
        abort_rest(moment.time);
        for (auto& [index, child] : settled_) {
            if (is_without_success(child.status) && !child.is_lost) {
                child.status = "PENDING_REDRIVE";
            }
        }
    } else if (type.starts_with("MapRun") && event_ > 0 &&
               told_count(told, "previousEventId") == event_) {
        abort_rest(moment.time);
    }
}

void MapChildren::hear_child(const trigger::Moment& moment, const Value& told) {
    auto index = told_count(told, "index");
    if (index < query_.from || index >= query_.until) {
        return;
    }
    auto child = ChildExecution{.index = index, .input = {}, .end = {}};
    for (auto* known : {&running_, &settled_}) {
        if (auto found = known->extract(index)) {
            child = std::move(found.mapped());
        }
    }
    child.name = text_at(told, "name");
    child.status = text_at(told, "status");
    child.started = told.find("started")->as_timestamp();
    child.items = told_count(told, "items");
    child.redrives = told_count(told, "redrives");
    child.is_lost = told.find("lost") != nullptr;
    if (told.find("again") != nullptr) {
        child.redriven = moment.time;
    }
    if (const auto* input = told.find("input"); query_.has_data && input != nullptr) {
        child.input = *input;
    }
    if (child.status == "RUNNING") {
        child.ended.reset();
        child.end = {};
        running_.insert_or_assign(index, std::move(child));
        return;
    }
    child.ended = moment.time;
    child.end = query_.has_data ? end_in(told) : Value{};
    settle(std::move(child));
}

/// It is what is wanted, or a redrive may yet make it that.
bool MapChildren::may_match(const ChildExecution& child) const {
    return query_.status.empty() || child.status == query_.status ||
           (is_without_success(query_.status) && is_without_success(child.status));
}

void MapChildren::settle(ChildExecution child) {
    if (!may_match(child) || (dropped_ && child.index <= *dropped_)) {
        return;
    }
    auto index = child.index;
    settled_.insert_or_assign(index, std::move(child));
    if (settled_.size() > query_.most) {
        dropped_ = settled_.begin()->first;
        settled_.erase(settled_.begin());
    }
}

void MapChildren::abort_rest(std::optional<Time> at) {
    for (auto& [index, child] : std::exchange(running_, {})) {
        auto aborted = child;
        aborted.status = "ABORTED";
        aborted.ended = at;
        settle(std::move(aborted));
    }
    for (auto& [index, child] : settled_) {
        if (child.status == "PENDING_REDRIVE") {
            child.status = "FAILED"; // It was to go on and has not.
        }
    }
}

void MapChildren::close(const trigger::RunProgress& progress) {
    if (progress.status != trigger::Status::Running && progress.status != trigger::Status::Queued) {
        abort_rest(progress.ended);
    }
}

std::vector<ChildExecution> MapChildren::found() const {
    auto found = std::vector<ChildExecution>{};
    for (const auto* known : {&settled_, &running_}) {
        for (const auto& [index, child] : *known) {
            auto is_wanted = query_.status.empty() || child.status == query_.status;
            if (is_wanted && (!dropped_ || index > *dropped_)) {
                found.push_back(child);
            }
        }
    }
    std::ranges::sort(found, std::greater{}, &ChildExecution::index);
    return found;
}

MapChildren::Page MapChildren::page() const {
    auto page = Page{.children = found(), .rest = {}};
    if (page.children.size() > query_.most) {
        page.children.resize(query_.most);
        page.rest = page.children.back().index;
    } else if (dropped_) {
        page.rest = *dropped_ + 1;
    }
    return page;
}

} // namespace sluice::workflow::asl

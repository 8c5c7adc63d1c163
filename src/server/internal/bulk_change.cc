#include "server/internal/bulk_change.h"

#include <utility>

#include "value/wording.h"

namespace sluice::server {

namespace {

using value::number;

} // namespace

Result<std::vector<engine::RunName>> BulkChange::next_page() {
    if (query_.filter.cursor.empty() && !statuses_.empty()) {
        query_.filter.status = statuses_.front();
        statuses_.erase(statuses_.begin());
    }
    auto page = TRY(engine::list_runs(services_.store, query_.filter));
    query_.filter.cursor = page.cursor;
    auto runs = std::vector<engine::RunName>{};
    for (auto& listed : page.runs) {
        if (query_.matches(listed.summary)) {
            runs.push_back(std::move(listed.run));
        }
    }
    found_ += runs.size();
    return runs;
}

void BulkChange::preview() {
    auto first = std::vector<Value>{};
    do {
        auto runs = next_page();
        if (!runs) {
            answer(reply_, problem_of(runs.error()));
            return;
        }
        for (const auto& run : *runs) {
            if (first.size() < named_max) {
                first.emplace_back(run.id);
            }
        }
    } while (has_more() && found_ < runs_max);
    answer(reply_, 200,
           Value::object({{"runs", value::number(found_)},
                          {"first", Value::list(std::move(first))},
                          {"more", has_more()}}));
}

void BulkChange::change_page() {
    auto runs = next_page();
    if (!runs) {
        answer(reply_, problem_of(runs.error()));
        return;
    }
    pending_ = runs->size() + 1; // One for this function: a page may be empty.
    for (const auto& run : *runs) {
        change_(services_.engine, run, [self = shared_from_this(), run](const auto& changed) {
            self->note(run, changed);
            self->finish_page();
        });
    }
    finish_page();
}

void BulkChange::note(const engine::RunName& run, const Result<Value>& changed) {
    auto lock = std::lock_guard{mutex_};
    if (changed) {
        ++changed_;
    } else if (failures_.size() < named_max) {
        failures_.push_back(Value::object({{"run", run.id}, {"detail", changed.error().message}}));
    }
}

void BulkChange::finish_page() {
    {
        auto lock = std::lock_guard{mutex_};
        if (--pending_ > 0) {
            return;
        }
    }
    if (has_more() && found_ < runs_max) {
        do_on_worker(services_, reply_, [self = shared_from_this()] { self->change_page(); });
        return;
    }
    answer(reply_, 200,
           Value::object({{"runs", value::number(found_)},
                          {"changed", value::number(changed_)},
                          {"failures", Value::list(std::move(failures_))},
                          {"more", has_more()}}));
}

} // namespace sluice::server

#include "server/audit.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "engine/keys.h"
#include "reactor/thread.h"
#include "value/archive.h"

namespace sluice::server {

namespace {

constexpr auto audit_format = std::uint8_t{1};
constexpr auto waiting_max = std::size_t{65'536};
constexpr auto gather_time = std::chrono::milliseconds{20};
/// Otherwise who knocks often enough would push everything else out.
constexpr auto refusals_per_second_max = std::uint64_t{20};
/// Records that one question looks at before it hands out a cursor.
constexpr auto looked_at_max = std::size_t{20'000};
constexpr auto clean_interval = std::chrono::minutes{10};

bool is_refusal(const AuditRecord& record) {
    return record.status == 401 || record.status == 403 || record.status == 429;
}

Result<AuditRecord> decode_record(std::string_view bytes) {
    auto in = Decoder{bytes};
    TRY(in.format(audit_format, "audit record"));
    return value::decode_fields<AuditRecord>(in);
}

Result<std::uint64_t> number_of(std::string_view key) {
    auto in = Decoder{key.substr(engine::keys::audits().size())};
    return ~TRY(in.u64());
}

/// The first in [from, to) for which it holds, as it does for all behind; `to` when for none.
template <typename Claim>
Result<std::uint64_t> first_where(std::uint64_t from, std::uint64_t to, Claim claim) {
    while (from < to) {
        auto middle = from + (to - from) / 2;
        if (TRY(claim(middle))) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    return from;
}

} // namespace

Audit::Audit(store::Store& store, const Clock& clock, observe::Metrics& metrics,
             observe::Diagnostics& diagnostics, AuditLimits limits)
    : store_(store),
      clock_(clock),
      lost_(metrics.counter("audit_lost_total")),
      diagnostics_(diagnostics),
      limits_(limits) {}

Result<std::unique_ptr<Audit>> Audit::open(store::Store& store, const Clock& clock,
                                           observe::Metrics& metrics,
                                           observe::Diagnostics& diagnostics, AuditLimits limits) {
    auto audit = std::unique_ptr<Audit>{new Audit{store, clock, metrics, diagnostics, limits}};
    TRY(audit->find_ends());
    audit->thread_ = reactor::start_thread(
        "audit", [&self = *audit](const std::stop_token& stop) { self.work(stop); });
    return audit;
}

Audit::~Audit() {
    stop();
}

void Audit::stop() {
    thread_.request_stop();
    if (thread_.joinable()) {
        thread_.join();
    }
}

/// There are no gaps, so the oldest is found without looking at all of them.
Result<void> Audit::find_ends() {
    auto prefix = engine::keys::audits();
    auto cursor = store_.scan(prefix, engine::keys::end_of(prefix));
    if (cursor->is_valid()) {
        next_ = TRY(number_of(cursor->key())) + 1;
        auto is_there = [&](std::uint64_t number) -> Result<bool> {
            return TRY(store_.get(engine::keys::audit(number))).has_value();
        };
        first_ = TRY(first_where(1, next_ - 1, is_there));
    }
    return cursor->status();
}

void Audit::add(AuditRecord record) {
    record.time = clock_.wall();
    auto lock = std::lock_guard{mutex_};
    if (!may_write(record)) {
        return;
    }
    if (waiting_.size() >= waiting_max) {
        lost_.add();
        return;
    }
    waiting_.push_back(std::move(record));
    if (waiting_.size() == 1) {
        changed_.notify_one();
    }
}

bool Audit::may_write(AuditRecord& record) {
    if (!is_refusal(record)) {
        return true;
    }
    auto second = std::chrono::floor<std::chrono::seconds>(record.time.time_since_epoch()).count();
    if (second != std::exchange(second_, second)) {
        refused_ = 0;
    }
    if (++refused_ > refusals_per_second_max) {
        ++unwritten_;
        return false;
    }
    record.more = std::exchange(unwritten_, 0);
    return true;
}

void Audit::list(AuditFilter filter, Listed done) {
    auto lock = std::lock_guard{mutex_};
    questions_.push_back({std::move(filter), std::move(done)});
    changed_.notify_one();
}

void Audit::set_limits(AuditLimits limits) {
    auto lock = std::lock_guard{mutex_};
    limits_ = limits;
}

void Audit::work(const std::stop_token& stop) {
    auto is_due = [this] { return !waiting_.empty() || !questions_.empty(); };
    for (auto is_last = false; !is_last;) {
        auto lock = std::unique_lock{mutex_};
        changed_.wait(lock, stop, is_due);
        // Who changes one thing often changes the next: one commit for both.
        changed_.wait_for(lock, stop, gather_time, [this] { return !questions_.empty(); });
        is_last = stop.stop_requested();
        auto records = std::exchange(waiting_, {});
        auto questions = std::exchange(questions_, {});
        auto limits = limits_;
        lock.unlock();

        write(std::move(records));
        if (auto removed = remove_old(limits); !removed) {
            diagnostics_.warn("old records of the audit stay", {{"why", removed.error().message}});
        }
        for (auto& question : questions) {
            question.done(find(question.filter));
        }
    }
}

void Audit::write(std::vector<AuditRecord> records) {
    if (records.empty()) {
        return;
    }
    auto batch = store_.make_batch();
    auto number = next_;
    for (const auto& record : records) {
        auto bytes = std::string{};
        auto out = Encoder{bytes};
        out.u8(audit_format);
        value::encode_fields(record, out);
        batch->put(engine::keys::audit(number++), bytes);
    }
    if (auto done = store_.commit(*batch); !done) {
        lost_.add(records.size());
        diagnostics_.error("records of the audit were not written",
                           {{"records", records.size()}, {"why", done.error().message}});
        return;
    }
    next_ = number;
}

Result<void> Audit::remove_old(AuditLimits limits) {
    auto now = clock_.wall();
    auto count = next_ - first_;
    // In steps of a sixteenth: each leaves a mark in the store that reading has to pass.
    auto is_full = count > limits.records_max + limits.records_max / 16;
    if (count == 0 || (!is_full && now - cleaned_ < clean_interval)) {
        return {};
    }
    cleaned_ = now;
    auto keep = count > limits.records_max ? next_ - limits.records_max : first_;
    auto is_kept = [&](std::uint64_t number) -> Result<bool> {
        auto record = TRY(read(number));
        return record && now - record->time < limits.age_max;
    };
    keep = TRY(first_where(keep, next_, is_kept));
    if (keep == first_) {
        return {};
    }
    auto batch = store_.make_batch();
    // The last stays whatever its age: the next one's number goes by it.
    keep = std::min(keep, next_ - 1);
    batch->remove_range(engine::keys::audit(keep - 1),
                        engine::keys::end_of(engine::keys::audits()));
    TRY(store_.commit(*batch));
    first_ = keep;
    return {};
}

Result<std::optional<AuditRecord>> Audit::read(std::uint64_t number) const {
    auto bytes = TRY(store_.get(engine::keys::audit(number)));
    if (!bytes) {
        return std::nullopt;
    }
    return TRY(decode_record(*bytes));
}

Result<AuditPage> Audit::find(const AuditFilter& filter) const {
    auto page = AuditPage{};
    auto from = engine::keys::audit(filter.before - 1);
    auto cursor = store_.scan(from, engine::keys::end_of(engine::keys::audits()));
    for (auto looked_at = std::size_t{0}; cursor->is_valid(); cursor->next()) {
        auto record = TRY(decode_record(cursor->value()));
        if (filter.since && record.time < *filter.since) {
            break;
        }
        if (page.records.size() == filter.limit || looked_at++ == looked_at_max) {
            page.cursor = TRY(number_of(cursor->key())) + 1;
            break;
        }
        if ((filter.who.empty() || filter.who == record.who) &&
            (!filter.space || *filter.space == record.space)) {
            page.records.push_back(std::move(record));
        }
    }
    TRY(cursor->status());
    return page;
}

} // namespace sluice::server

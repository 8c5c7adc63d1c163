#include "server/quotas.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "engine/run_index.h"
#include "value/amount_text.h"

namespace sluice::server {

namespace {

constexpr auto document_name = std::string_view{"quota"};
constexpr auto quota_max = std::int64_t{1'000'000'000};
/// Counting takes at most this share of the time, and is not done more often than this.
constexpr auto count_share = 20;
constexpr auto count_interval = std::chrono::milliseconds{100};

Result<std::uint64_t> count_in(std::string_view name, const Value& value) {
    if (!value.is_int() || value.as_int() < 1 || value.as_int() > quota_max) {
        return fail(Errc::InvalidInput, "{}: expected an integer from 1 to {}", name, quota_max);
    }
    return static_cast<std::uint64_t>(value.as_int());
}

Problem exceeded(std::string_view quota, std::string detail, Nanos wait = std::chrono::seconds{1}) {
    auto seconds = std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(wait).count());
    return {.status = 429,
            .code = "quota_exceeded",
            .detail = std::move(detail),
            .more = Value::object({{"quota", quota}}),
            .headers = {{"Retry-After", std::to_string(seconds)}}};
}

} // namespace

Result<Quota> parse_quota(const Value& form) {
    auto quota = Quota{};
    for (const auto& [name, value] : form.as_map()) {
        if (value.is_null()) {
            continue;
        }
        if (name == "running_runs") {
            quota.running_runs = TRY(count_in(name, value));
        } else if (name == "definitions") {
            quota.definitions = TRY(count_in(name, value));
        } else if (name == "waiting_tasks") {
            quota.waiting_tasks = TRY(count_in(name, value));
        } else if (name == "events_burst") {
            quota.events.burst = static_cast<double>(TRY(count_in(name, value)));
        } else if (name == "events_rate") {
            quota.events.per_second = TRY(value::parse_rate(value));
        } else {
            return fail(Errc::InvalidInput,
                        "{}: expected running_runs, events_rate, events_burst, definitions or "
                        "waiting_tasks",
                        name);
        }
    }
    return quota;
}

/// A quota and what is used of it.
struct Quotas::Use {
    explicit Use(const Quota& given) : quota(given), events(given.events) {}

    const Quota quota;
    RateLimit events;
    std::mutex mutex; ///< Of all below.
    /// No more than so many run: those counted last, and all that started since.
    std::uint64_t running_most = 0;
    std::uint64_t starting = 0;
    Nanos count_at{0};
};

Result<std::unique_ptr<Quotas>> Quotas::open(Documents& documents, const store::Store& store,
                                             engine::Engine& engine, const Clock& clock) {
    auto quotas = std::unique_ptr<Quotas>{new Quotas{documents, store, engine, clock}};
    for (const auto& document : documents.list(kind)) {
        quotas->put_use(document.space, TRY(parse_quota(document.content)));
    }
    return quotas;
}

void Quotas::put_use(const std::string& space, const Quota& quota) {
    auto use = std::make_shared<Use>(quota);
    // What runs already is counted at the first start.
    use->running_most = quota.running_runs;
    auto lock = std::lock_guard{mutex_};
    uses_.insert_or_assign(space, std::move(use));
    has_any_ = true;
}

std::optional<Value> Quotas::find(std::string_view space) const {
    auto document = documents_.find(kind, space, document_name);
    return document ? std::optional{std::move(document->content)} : std::nullopt;
}

Result<void> Quotas::set(const std::string& space, const Value& form) {
    auto quota = TRY(parse_quota(form));
    TRY(documents_.put(kind,
                       {.space = space, .name = std::string{document_name}, .content = form}));
    put_use(space, quota);
    return {};
}

Result<void> Quotas::remove(std::string_view space) {
    TRY(documents_.remove(kind, space, document_name));
    drop_use(space);
    return {};
}

Result<void> Quotas::follow(const std::string& space) {
    if (auto form = find(space)) {
        put_use(space, TRY(parse_quota(*form)));
    } else {
        drop_use(space);
    }
    return {};
}

void Quotas::drop_use(std::string_view space) {
    auto lock = std::lock_guard{mutex_};
    if (auto found = uses_.find(space); found != uses_.end()) {
        uses_.erase(found);
    }
    has_any_ = !uses_.empty();
}

std::shared_ptr<Quotas::Use> Quotas::use_of(std::string_view space) const {
    auto lock = std::shared_lock{mutex_};
    auto found = uses_.find(space);
    return found == uses_.end() ? nullptr : found->second;
}

std::optional<Problem> Quotas::check_tasks(std::string_view space, const Use& use) const {
    auto most = use.quota.waiting_tasks;
    if (most == 0 || engine_.waiting_tasks(std::string{space}) < most) {
        return std::nullopt;
    }
    return exceeded("waiting_tasks",
                    fmt::format("{} tasks of the namespace {} wait for their functions, as many as "
                                "it may have: send again when some have ended",
                                most, space));
}

std::optional<Problem> Quotas::check_events(std::string_view space, std::size_t count) const {
    auto use = use_of(space);
    if (!use) {
        return std::nullopt;
    }
    if (auto problem = check_tasks(space, *use)) {
        return problem;
    }
    auto wait = use->events.take(clock_.steady(), count);
    if (wait == Nanos{0}) {
        return std::nullopt;
    }
    return exceeded("events_rate",
                    fmt::format("the namespace {} may send {} events a second: send again later",
                                space, use->quota.events.per_second),
                    wait);
}

Quotas::Admission Quotas::admit_start(std::string_view space) const {
    auto use = has_any_.load(std::memory_order_relaxed) ? use_of(space) : nullptr;
    if (!use) {
        return nullptr;
    }
    if (auto problem = check_tasks(space, *use)) {
        return std::unexpected(*std::move(problem));
    }
    auto most = use->quota.running_runs;
    if (most == 0) {
        return nullptr;
    }
    auto lock = std::lock_guard{use->mutex};
    auto now = clock_.steady();
    if (use->running_most >= most && now >= use->count_at) {
        auto counted = std::size_t{0};
        for (auto status : {trigger::Status::Running, trigger::Status::Queued}) {
            auto found = engine::count_runs(store_, space, status, most);
            if (!found) {
                return std::unexpected(problem_of(found.error()));
            }
            counted += *found;
        }
        use->running_most = counted + use->starting;
        auto took = clock_.steady() - now;
        use->count_at = now + std::max<Nanos>(count_share * took, count_interval);
    }
    if (use->running_most >= most) {
        return std::unexpected(
            exceeded("running_runs", fmt::format("{} runs of the namespace {} are running, as many "
                                                 "as it may have: start again when some have ended",
                                                 most, space)));
    }
    ++use->running_most;
    ++use->starting;
    return Ticket{nullptr, [use](void*) {
                      auto done = std::lock_guard{use->mutex};
                      --use->starting;
                  }};
}

std::optional<Problem> Quotas::refuse_definition(std::string_view space,
                                                 std::string_view name) const {
    auto use = has_any_.load(std::memory_order_relaxed) ? use_of(space) : nullptr;
    if (!use || use->quota.definitions == 0 || engine_.catalog().find(space, name)) {
        return std::nullopt;
    }
    auto count = engine_.catalog().count(space);
    if (!count || *count < use->quota.definitions) {
        return count ? std::nullopt : std::optional{problem_of(count.error())};
    }
    return exceeded("definitions", fmt::format("the namespace {} has {} definitions, as many as it "
                                               "may have",
                                               space, *count));
}

} // namespace sluice::server

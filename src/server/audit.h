#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "observe/diagnostics.h"
#include "observe/metrics.h"
#include "store/store.h"

namespace sluice::server {

/// That somebody asked for a change, and what came of it. Holds no bodies and no secrets.
struct AuditRecord {
    Time time{};
    std::string who; ///< The name of the token.
    std::string method;
    std::string route; ///< Its pattern.
    std::string space{};
    std::string target; ///< The path.
    std::uint32_t status = 0;
    std::string peer;
    std::uint64_t more =
        0; ///< Refusals since the one before that were not written, for there were too many.

    template <typename Archive>
    void fields(Archive& archive) {
        archive("time", time)("who", who)("method", method)("route", route)("space", space)(
            "target", target)("status", status)("peer", peer)("more", more);
    }
    bool operator==(const AuditRecord&) const = default;
};

struct AuditLimits {
    Nanos age_max = std::chrono::hours{24 * 90};
    std::uint64_t records_max = 1'000'000;
};

struct AuditFilter {
    std::optional<Time> since{};
    std::string who{};                  ///< Empty: anybody.
    std::optional<std::string> space{}; ///< Nothing: all of them.
    std::uint64_t before = UINT64_MAX;  ///< The cursor: records with smaller numbers.
    std::size_t limit = 100;
};

struct AuditPage {
    std::vector<AuditRecord> records; ///< The last first.
    std::uint64_t cursor = 0;         ///< `before` of the next page; 0: there is none.
};

/// Every change that was asked for, who asked, and what came of it: kept in the store, in order,
/// for a time.
///
/// A thread of its own writes what came within some milliseconds as one commit, so a crash may lose
/// that much and nobody waits for it. Members may be called from any thread.
class Audit {
public:
    using Listed = std::function<void(Result<AuditPage>)>;

    /// All of these outlive it.
    static Result<std::unique_ptr<Audit>> open(store::Store& store, const Clock& clock,
                                               observe::Metrics& metrics,
                                               observe::Diagnostics& diagnostics,
                                               AuditLimits limits);
    /// Writes what was added.
    ~Audit();
    Audit(const Audit&) = delete;
    Audit& operator=(const Audit&) = delete;

    /// Gives it its time. Never waits: past a bound it is lost, and counted.
    void add(AuditRecord record);
    /// With all that was added before; called on the audit's thread, or not at all when it ends.
    void list(AuditFilter filter, Listed done);
    void set_limits(AuditLimits limits);
    /// Writes what was added and ends; what comes later is lost. Twice is safe.
    void stop();

private:
    struct Question {
        AuditFilter filter;
        Listed done;
    };

    Audit(store::Store& store, const Clock& clock, observe::Metrics& metrics,
          observe::Diagnostics& diagnostics, AuditLimits limits);
    Result<void> find_ends();
    bool may_write(AuditRecord& record);
    void work(const std::stop_token& stop);
    void write(std::vector<AuditRecord> records);
    Result<void> remove_old(AuditLimits limits);
    Result<std::optional<AuditRecord>> read(std::uint64_t number) const;
    Result<AuditPage> find(const AuditFilter& filter) const;

    store::Store& store_;
    const Clock& clock_;
    observe::Counter& lost_;
    observe::Diagnostics& diagnostics_;

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::vector<AuditRecord> waiting_;
    std::vector<Question> questions_;
    AuditLimits limits_;
    std::int64_t second_ = 0; ///< In which these were refused:
    std::uint64_t refused_ = 0;
    std::uint64_t unwritten_ = 0;

    // Of its thread:
    std::uint64_t first_ = 1; ///< The oldest that is there.
    std::uint64_t next_ = 1;
    Time cleaned_{};
    std::jthread thread_;
};

} // namespace sluice::server

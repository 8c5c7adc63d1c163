#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "trigger/history.h"
#include "trigger/state.h"
#include "value/value.h"

namespace sluice::workflow::asl {

/// A child of a distributed map, which the service shows as an execution.
struct ChildExecution {
    std::uint64_t index = 0;
    std::string name;
    std::string status; ///< `RUNNING`, `SUCCEEDED`, `FAILED`, `ABORTED`, `PENDING_REDRIVE`
    Time started{};
    std::optional<Time> ended{};
    std::uint64_t items = 1;
    std::uint64_t redrives = 0;
    std::optional<Time> redriven{};
    bool is_lost = false; ///< A redrive cannot go on with it.
    // Only where asked for:
    Value input;
    Value end; ///< `output`, or `error` and `cause`; null: it goes on.
};

/// Which children of a map run are meant.
struct ChildQuery {
    std::string run;         ///< `MACHINE/LABEL:NAME`
    std::string execution{}; ///< That the map run belongs to, where that is a child; else empty.
    std::string status{};    ///< Empty: any.
    std::uint64_t from = 0;  ///< The first index,
    std::uint64_t until = UINT64_MAX; ///< and the one behind the last.
    std::size_t most = 100;
    bool has_data = false;
};

/// The children of a map run, the newest first: like its history, told while the run is decided
/// again. Of all that there ever were no more is kept than a page, and those that run at one time.
class MapChildren final : public trigger::Listener {
public:
    explicit MapChildren(ChildQuery query) : query_(std::move(query)) {}

    void hear(const trigger::Moment& moment, const Value& told) override;
    bool cares_for(std::string_view part) const override { return part == query_.execution; }
    void close(const trigger::RunProgress& progress);

    /// Whether there is such a map run.
    bool is_known() const { return event_ > 0; }
    struct Page {
        std::vector<ChildExecution> children;
        std::optional<std::uint64_t> rest; ///< `until` of the next page; nothing: there is none.
    };
    Page page() const;

private:
    void hear_event(const trigger::Moment& moment, const Value& told);
    void hear_child(const trigger::Moment& moment, const Value& told);
    bool may_match(const ChildExecution& child) const;
    void settle(ChildExecution child);
    void abort_rest(std::optional<Time> at);
    std::vector<ChildExecution> found() const;

    ChildQuery query_;
    std::uint64_t event_ = 0; ///< That tells of its start, or of its last redrive.
    std::map<std::uint64_t, ChildExecution> running_;
    std::map<std::uint64_t, ChildExecution> settled_; ///< The newest that may be on the page.
    std::optional<std::uint64_t> dropped_; ///< The newest that was not kept for want of room.
};

} // namespace sluice::workflow::asl

#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/catalog.h"
#include "engine/dispatcher.h"
#include "engine/input.h"
#include "engine/lane.h"
#include "observe/diagnostics.h"
#include "reactor/virtual_time.h"
#include "store/memory/memory_store.h"
#include "trigger/trigger_set.h"

namespace sluice::trial {

/// Who answers calls here.
class Cast {
public:
    virtual ~Cast() = default;
    /// The function of this name, asked for before its first call.
    virtual engine::Function function(const std::string& name) = 0;
    /// This one is handed to its function next.
    virtual void note(const engine::Call& call) = 0;
};

/// An engine without threads, on virtual time, in memory: everything is done in one order, and a
/// month that a run waits takes no longer than deciding it.
///
/// Delays between attempts have no random share here, so that they can be told beforehand.
class Stage final : private engine::Committer {
public:
    /// All of them outlive it.
    Stage(const trigger::Vocabulary& vocabulary, reactor::VirtualTime& time, Cast& cast);
    ~Stage() override;

    Result<void> open();
    /// The last of them is what a run is started of.
    Result<void> add(const std::vector<engine::Definition>& definitions);
    Result<void> start(const std::string& run, const std::string& definition, Value input,
                       engine::Done done);
    void post(engine::Input&& input) { mail_.push_back(std::move(input)); }

    /// One thing that can be done at this moment; false when nothing is left of it.
    bool step();
    /// Until there is something to do; nothing: not unless something is posted.
    std::optional<Nanos> until_next();

    store::Store& store() { return store_; }
    const trigger::Vocabulary& vocabulary() const { return catalog_.vocabulary(); }
    const reactor::VirtualTime& time() const { return time_; }
    /// Why nothing goes on any more.
    const std::optional<Error>& broken() const { return broken_; }

private:
    void submit(std::unique_ptr<engine::Commit> commit, Done done) override;
    Result<void> commit_here(engine::Commit& commit) override {
        return store_.commit(commit.finish());
    }
    void dispatch(std::vector<engine::Call> calls);

    reactor::VirtualTime& time_;
    Cast& cast_;
    observe::NullDiagnostics diagnostics_;
    store::memory::MemoryStore store_{1};
    engine::Catalog catalog_;
    std::set<std::string> functions_; ///< That the dispatcher knows.
    engine::Dispatcher dispatcher_;
    std::unique_ptr<engine::Lane> lane_;
    std::deque<engine::Input> mail_;
    std::optional<Error> broken_;
};

} // namespace sluice::trial

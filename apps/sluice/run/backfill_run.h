#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "server/intake/backfill.h"
#include "sluice/exit_code.h"
#include "sluice/run/beginning.h"
#include "sluice/run/prepared_run.h"

namespace sluice::app {

struct BackfillOptions {
    std::string file;
    std::string from;
    std::string to;
    std::string every;
    std::string zone;
    std::string input;     ///< JSON, or `@` and a file; empty: the definition's own.
    std::string functions; ///< A file that declares more of them; empty: none.
    std::string data;
    std::uint64_t limit = 1;
    bool is_dry_run = false;
    bool is_json = false;
};

/// A run for each of the times, in a data directory; the same again goes on with them.
ExitCode run_backfill(const BackfillOptions& options);

/// The run that a backfill is.
class BackfillRun final : public Beginning {
public:
    BackfillRun(PreparedRun prepared, server::intake::Backfill backfill, LoadedDefinition own,
                std::string again)
        : prepared_(std::move(prepared)),
          backfill_(std::move(backfill)),
          own_(std::move(own)),
          again_(std::move(again)) {}

    const std::string& id() const override { return backfill_.id; }
    store::Durability durability() const override { return prepared_.durability; }
    void prepare(SessionOptions& session) const override {
        session.functions = prepared_.functions;
        session.integrations = prepared_.integrations;
    }
    /// Its id says what was asked for.
    Result<void> check_same(const Value& /*existing*/) override { return {}; }
    Result<void> begin(engine::Engine& engine) const override;
    std::string again() const override { return again_; }

private:
    PreparedRun prepared_;
    server::intake::Backfill backfill_;
    LoadedDefinition own_; ///< Of the backfill itself.
    std::string again_;
};

} // namespace sluice::app

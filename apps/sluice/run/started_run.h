#pragma once

#include "sluice/run/beginning.h"
#include "sluice/run/prepared_run.h"

namespace sluice::app {

/// A run that a definition is started as. Options outlive it.
class StartedRun final : public Beginning {
public:
    StartedRun(const RunOptions& options, PreparedRun prepared, std::string data)
        : options_(options), prepared_(std::move(prepared)), data_(std::move(data)) {}

    const std::string& id() const override { return prepared_.id; }
    store::Durability durability() const override { return prepared_.durability; }
    void prepare(SessionOptions& session) const override {
        session.functions = prepared_.functions;
        session.integrations = prepared_.integrations;
        session.simulation = prepared_.simulation;
    }
    Result<void> check_same(const Value& existing) override;
    Result<void> begin(engine::Engine& engine) const override;
    bool is_machine() const override { return prepared_.loaded.definition.language == "asl"; }
    std::string again() const override;

private:
    Result<void> add_definitions(engine::Catalog& catalog) const;

    const RunOptions& options_;
    const PreparedRun prepared_;
    const std::string data_; ///< The data directory, for messages.
};

} // namespace sluice::app

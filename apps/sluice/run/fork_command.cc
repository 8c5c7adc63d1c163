#include "sluice/run/fork_command.h"

#include <future>
#include <utility>

#include "sluice/languages.h"
#include "sluice/output.h"
#include "sluice/run/data_directory.h"
#include "sluice/run/execution.h"
#include "sluice/run/prepared_run.h"

namespace sluice::app {

namespace {

class ForkedRun final : public Beginning {
public:
    ForkedRun(const ForkOptions& options, FunctionFile functions,
              std::optional<Simulation> simulation)
        : options_(options),
          functions_(std::move(functions)),
          simulation_(simulation),
          id_(options.run.run.empty() ? fmt::format("{}-{}", options.from, options.at)
                                      : options.run.run) {}

    const std::string& id() const override { return id_; }
    store::Durability durability() const override { return durability_of(options_.run); }
    void prepare(SessionOptions& session) const override {
        session.functions = functions_.functions;
        session.integrations = functions_.integrations;
        session.simulation = simulation_;
        session.run = options_.from;
    }

    Result<void> check_same(const Value& existing) override {
        if (text_at(existing, "forked_from") != origin()) {
            return fail(Errc::InvalidInput,
                        "there is a run \"{}\" already, and it is no fork of {} at event {}: "
                        "choose another --id",
                        id_, options_.from, options_.at);
        }
        is_there_ = true;
        return {};
    }

    Result<void> begin(engine::Engine& engine) const override {
        if (is_there_) {
            return {};
        }
        auto forked = std::promise<Result<Value>>{};
        engine.fork({.id = options_.from}, trigger::EventNumber{options_.at}, id_,
                    [&](Result<Value> answer) { forked.set_value(std::move(answer)); });
        TRY(forked.get_future().get());
        return {};
    }

    std::string again() const override {
        auto text = fmt::format("sluice fork {} --at {} --data {}", options_.from, options_.at,
                                options_.run.data);
        for (const auto& [flag, value] : {std::pair{"--id", options_.run.run},
                                          {"--functions", options_.run.functions},
                                          {"--time-scale", options_.run.time_scale}}) {
            if (!value.empty()) {
                text += fmt::format(" {} '{}'", flag, value);
            }
        }
        return text;
    }

private:
    std::string origin() const { return fmt::format("{}@{}", options_.from, options_.at); }

    const ForkOptions& options_;
    FunctionFile functions_;
    std::optional<Simulation> simulation_;
    std::string id_;
    bool is_there_ = false;
};

} // namespace

ExitCode fork(const ForkOptions& options) {
    if (auto found = check_directory(options.run.data); !found) {
        return report(found.error());
    }
    auto code = ExitCode::Ok;
    auto simulation = simulation_of(options.run);
    if (!simulation) {
        return report(simulation.error());
    }
    auto functions = read_functions(options.run, make_vocabulary(), code);
    if (!functions) {
        return code;
    }
    auto directory = DataDirectory::named(options.run.data);
    auto beginning = ForkedRun{options, *std::move(functions), *simulation};
    return Execution{options.run, beginning, directory}.run();
}

} // namespace sluice::app

#include "sluice/run/started_run.h"

#include <future>
#include <utility>

#include "sluice/output.h"

namespace sluice::app {

Result<void> StartedRun::check_same(const Value& existing) {
    if (text_at(existing, "set") != prepared_.loaded.hashes.back()) {
        return fail(Errc::InvalidInput,
                    "run \"{}\" in {} was started from another definition than {} is now: choose "
                    "another --run",
                    id(), data_, options_.file);
    }
    // One that continued as new chose its input itself.
    auto is_first = existing.find("generation")->as_int() == 1;
    if (is_first && *existing.find("input") != prepared_.input) {
        return fail(Errc::InvalidInput,
                    "run \"{}\" in {} was started with other input, {}: choose another --run", id(),
                    data_, brief(*existing.find("input")));
    }
    return {};
}

/// A start of a run that is there already changes nothing.
Result<void> StartedRun::begin(engine::Engine& engine) const {
    TRY(add_definitions(engine.catalog()));
    auto started = std::promise<Result<Value>>{};
    engine.start({.id = id(),
                  .definition = prepared_.loaded.definition.name,
                  .input = prepared_.input,
                  .labels = prepared_.labels},
                 [&](Result<Value> answer) { started.set_value(std::move(answer)); });
    TRY(started.get_future().get());
    return {};
}

Result<void> StartedRun::add_definitions(engine::Catalog& catalog) const {
    auto space = engine::RunName{}.space;
    auto definitions = prepared_.loaded.for_catalog();
    for (auto at = std::size_t{0}; at < definitions.size(); ++at) {
        const auto& hash = prepared_.loaded.hashes[at];
        auto known = catalog.find(space, definitions[at].name);
        if (!known || *known != hash) {
            TRY(catalog.add(space, definitions[at], hash));
        }
    }
    return {};
}

std::string StartedRun::again() const {
    auto text = fmt::format("sluice run {} --data {}", options_.file, data_);
    for (const auto& [flag, value] :
         {std::pair{"--run", options_.run},
          {"--input", options_.input},
          {"--functions", options_.functions},
          {"--time-scale", options_.time_scale},
          {"--slots", options_.slots == 0 ? "" : fmt::to_string(options_.slots)}}) {
        if (!value.empty()) {
            text += fmt::format(" {} '{}'", flag, value);
        }
    }
    return text;
}

} // namespace sluice::app

#include "sluice/run/delete_command.h"

#include <algorithm>
#include <future>
#include <utility>

#include "engine/inspector.h"
#include "sluice/output.h"
#include "sluice/run/bell.h"
#include "sluice/run/idle.h"
#include "sluice/session.h"

namespace sluice::app {

namespace {

using engine::RunName;

constexpr auto tick = std::chrono::milliseconds{5};
constexpr auto nested_wait_max = std::chrono::seconds{60};

/// A run and all below it, itself first.
Result<std::vector<RunName>> with_nested(const engine::Inspector& inspector, const RunName& run) {
    auto all = std::vector{run};
    for (auto at = std::size_t{0}; at < all.size(); ++at) {
        auto filter =
            engine::RunFilter{.label = fmt::format("{}={}", engine::parent_label, all[at].id)};
        do {
            auto page = TRY(inspector.list(filter));
            for (const auto& nested : page.runs) {
                all.push_back(nested.run);
            }
            filter.cursor = std::move(page.cursor);
        } while (!filter.cursor.empty());
    }
    return all;
}

Result<void> remove(engine::Engine& engine, const DeleteOptions& options) {
    auto removed = std::promise<Result<Value>>{};
    engine.remove({.id = options.run},
                  options.is_forced ? engine::WhenRunning::Terminate : engine::WhenRunning::Refuse,
                  [&](Result<Value> answer) { removed.set_value(std::move(answer)); });
    auto answer = removed.get_future().get();
    if (!answer && answer.error().code == Errc::Conflict) {
        return fail(Errc::InvalidInput, "run \"{}\" is running: --force terminates it first",
                    options.run);
    }
    TRY(std::move(answer));
    return {};
}

/// Nested runs hear of it by message, one level after the other.
Result<void> await_gone(engine::Engine& engine, const std::vector<RunName>& runs) {
    auto give_up = std::chrono::steady_clock::now() + nested_wait_max;
    for (const auto& run : runs) {
        while (TRY(ask(engine, run, [](const trigger::RunState* state) -> Result<Value> {
                   return Value{state != nullptr};
               })).as_bool()) {
            if (std::chrono::steady_clock::now() > give_up) {
                return fail(Errc::Unavailable,
                            "nested run \"{}\" is still there: it goes when the "
                            "directory is opened next",
                            run.id);
            }
            Bell{}.wait(tick);
        }
    }
    return {};
}

Result<std::vector<RunName>> delete_in(const DeleteOptions& options) {
    TRY(check_directory(options.data));
    // Nobody's functions are called for this: what other runs wait for is left as it is.
    auto session = TRY(Session::open({.data = options.data, .calls_functions = false}));
    auto inspector = engine::Inspector{session->store(), session->vocabulary()};
    auto runs = TRY(with_nested(inspector, {.id = options.run}));
    TRY(remove(session->engine(), options));
    TRY(await_gone(session->engine(), runs));
    session->stop();
    TRY(session->store().compact());
    return runs;
}

} // namespace

ExitCode delete_run(const DeleteOptions& options) {
    auto deleted = delete_in(options);
    if (!deleted) {
        return report(deleted.error());
    }
    auto ids = std::vector<Value>{};
    for (const auto& run : *deleted) {
        ids.emplace_back(run.id);
        if (!options.is_json) {
            print_line(run.id);
        }
    }
    if (options.is_json) {
        print_json(Value::object({{"deleted", Value::list(std::move(ids))}}));
    }
    return ExitCode::Ok;
}

} // namespace sluice::app

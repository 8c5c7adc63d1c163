#include "sluice/run/run_command.h"

#include <utility>

#include "sluice/languages.h"
#include "sluice/machine/machine_run.h"
#include "sluice/run/data_directory.h"
#include "sluice/run/execution.h"
#include "sluice/run/prepared_run.h"
#include "sluice/run/started_run.h"

namespace sluice::app {

ExitCode run(const RunOptions& options) {
    if (options.durability == "memory" && !options.data.empty()) {
        return report({Errc::InvalidInput,
                       "--durability memory keeps nothing: leave out --data, or choose relaxed"});
    }
    if (is_trial(options)) {
        return try_machine(options);
    }
    auto code = ExitCode::Ok;
    auto prepared = prepare(options, make_vocabulary(), code);
    if (!prepared) {
        return code;
    }
    if (prepared->durability == store::Durability::Memory) {
        auto nowhere = DataDirectory::named({});
        auto beginning = StartedRun{options, *std::move(prepared), ""};
        return Execution{options, beginning, nowhere}.run();
    }
    auto directory = options.data.empty()
                         ? DataDirectory::temporary()
                         : Result<DataDirectory>{DataDirectory::named(options.data)};
    if (!directory) {
        return report(directory.error());
    }
    auto beginning = StartedRun{options, *std::move(prepared), directory->path().string()};
    return Execution{options, beginning, *directory}.run();
}

} // namespace sluice::app

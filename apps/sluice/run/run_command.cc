#include "sluice/run/run_command.h"

#include <utility>

#include "sluice/run/data_directory.h"
#include "sluice/run/execution.h"
#include "sluice/run/prepared_run.h"

namespace sluice::app {

ExitCode run(const RunOptions& options) {
    if (options.durability == "memory" && !options.data.empty()) {
        return report({Errc::InvalidInput,
                       "--durability memory keeps nothing: leave out --data, or choose relaxed"});
    }
    auto code = ExitCode::Ok;
    auto prepared = prepare(options, trigger::Vocabulary{}, code);
    if (!prepared) {
        return code;
    }
    if (prepared->durability == store::Durability::Memory) {
        auto nowhere = DataDirectory::named({});
        return Execution{options, *std::move(prepared), nowhere}.run();
    }
    auto directory = options.data.empty()
                         ? DataDirectory::temporary()
                         : Result<DataDirectory>{DataDirectory::named(options.data)};
    if (!directory) {
        return report(directory.error());
    }
    return Execution{options, *std::move(prepared), *directory}.run();
}

} // namespace sluice::app

#include "sluice/run/reopen_command.h"

#include <filesystem>
#include <future>

#include "sluice/output.h"
#include "sluice/session.h"

namespace sluice::app {

ExitCode reopen(const ReopenOptions& options) {
    auto ignored = std::error_code{};
    if (!std::filesystem::is_directory(options.data, ignored)) {
        return report({Errc::NotFound, fmt::format("there is no data directory {}", options.data)});
    }
    auto session = Session::open({.data = options.data, .calls_functions = false});
    if (!session) {
        return report(session.error());
    }
    auto answered = std::promise<Result<Value>>{};
    (*session)->engine().reopen({.id = options.run}, {}, [&](Result<Value> answer) {
        answered.set_value(std::move(answer));
    });
    auto answer = answered.get_future().get();
    if (!answer) {
        auto code = report(answer.error());
        return answer.error().code == Errc::Conflict ? ExitCode::Invalid : code;
    }
    if (options.is_json) {
        print_json(*answer);
    } else {
        print(
            "run {} is open again, as generation {}: `sluice run` with its definition, --run {} "
            "and --data {} lets it go on",
            options.run, answer->find("generation")->as_int(), options.run, options.data);
    }
    return ExitCode::Ok;
}

} // namespace sluice::app

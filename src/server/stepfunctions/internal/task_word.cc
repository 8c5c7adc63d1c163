#include "server/stepfunctions/internal/task_word.h"

#include <string>
#include <utility>

#include "trigger/history.h"
#include "value/wording.h"

namespace sluice::server::stepfunctions {

void tell_run(World& world, const engine::RunName& run, std::string_view action, Value params,
              engine::Done done) {
    world.services.engine.command(
        run, std::string{trigger::types::run_command},
        Value::object({{"action", Value::object({{std::string{action}, std::move(params)}})}}),
        std::move(done));
}

Value task_of(const engine::AttemptId& attempt) {
    return Value::object({{"fire", value::number(attempt.key.fire.raw())},
                          {"index", value::number(attempt.key.index)}});
}

} // namespace sluice::server::stepfunctions

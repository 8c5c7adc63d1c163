#include "sluice/run/event_line.h"

#include "sluice/output.h"
#include "trigger/arrival.h"
#include "trigger/ids.h"
#include "value/json.h"

namespace sluice::app {

Result<event::Event> read_event_line(event::Codec& codec, std::string_view line,
                                     const std::string& run) {
    auto event = TRY(codec.parse(line));
    if (event.type().starts_with(trigger::types::reserved_prefix)) {
        return fail(
            Errc::InvalidInput,
            "found the type {}, expected one that does not begin with sluice.: those come from "
            "the engine alone",
            event.type());
    }
    if (trigger::is_run_id(event.run())) {
        return event;
    }
    if (!event.run().empty()) {
        return fail(Errc::InvalidInput, "found the run {}, expected what can be a run's id",
                    brief(Value{event.run()}));
    }
    auto with_run = std::string{R"({"run":)"};
    value::write_json_string(run, with_run);
    with_run += ',';
    with_run += event.json().substr(event.json().find('{') + 1);
    return codec.parse(with_run);
}

bool is_blank(std::string_view line) {
    return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

} // namespace sluice::app

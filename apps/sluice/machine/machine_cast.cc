#include "sluice/machine/machine_cast.h"

#include <utility>

#include "workflow/asl/compile.h"
#include "workflow/asl/result_files.h"
#include "workflow/raw/function_form.h"

namespace sluice::app {

engine::Function MachineCast::function(const std::string& /*name*/) {
    return {.sink = this};
}

void MachineCast::deliver(event::Delivery delivery, Done done) {
    if (delivery.target == workflow::asl::mock_function) {
        auto outcome = mocks_.answer(delivery.payload.find("state")->as_string(),
                                     *delivery.payload.find("input"));
        if (outcome) {
            done({.result = *std::move(outcome)});
            return;
        }
        missing_ = outcome.error();
    } else if (delivery.target == workflow::asl::items_function) {
        auto page = pages_.read(delivery.payload);
        done(page ? event::Answer{.result = *std::move(page)}
                  : event::failure("States.ItemReaderFailed", page.error().message));
        return;
    } else if (delivery.target == workflow::asl::results_function) {
        auto written = workflow::asl::write_results(objects_, delivery.payload);
        done(written ? event::Answer{.result = *std::move(written)}
                     : event::failure("States.ResultWriterFailed", written.error().message));
        return;
    } else if (workflow::raw::is_builtin(delivery.target)) {
        builtin_.deliver(std::move(delivery), std::move(done));
        return;
    } else {
        missing_ = Error{Errc::NotFound,
                         fmt::format("the machine calls \"{}\", which is not mocked: give --mocks",
                                     delivery.target)};
    }
    done(event::failure("not_mocked", missing_->message));
}

} // namespace sluice::app

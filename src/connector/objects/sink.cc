#include "connector/objects/sink.h"

#include <iterator>
#include <utility>

#include "workflow/asl/compile.h"
#include "workflow/asl/item_pages.h"
#include "workflow/asl/object_calls.h"
#include "workflow/asl/result_files.h"

namespace sluice::connector::objects {

namespace asl = workflow::asl;

namespace {

constexpr auto threads = std::size_t{4};

event::Answer cancelled() {
    return event::failure("cancelled", "the call was cancelled");
}

/// A call that is answered even if nobody gets to it.
class Pending {
public:
    Pending(event::Delivery delivery, event::Sink::Done done)
        : delivery_(std::move(delivery)), done_(std::move(done)) {}
    Pending(Pending&&) = default;
    ~Pending() {
        if (done_) {
            done_(cancelled());
        }
    }

    const event::Delivery& delivery() const { return delivery_; }
    void answer(event::Answer answer) { std::exchange(done_, {})(std::move(answer)); }

private:
    event::Delivery delivery_;
    event::Sink::Done done_;
};

event::Answer answer_as(Result<Value> made, std::string_view error) {
    return made ? event::Answer{.result = *std::move(made)}
                : event::failure(error, made.error().message);
}

} // namespace

std::vector<std::string_view> Sink::names() {
    auto names = std::vector<std::string_view>{std::begin(asl::object_functions),
                                               std::end(asl::object_functions)};
    names.insert(names.end(), {asl::items_function, asl::results_function});
    return names;
}

Sink::Sink(std::unique_ptr<Buckets> buckets)
    : buckets_(std::move(buckets)),
      workers_("objects", {.threads = threads, .tasks_max = concurrency * names().size()}) {}

Sink::~Sink() {
    workers_.stop();
}

void Sink::deliver(event::Delivery delivery, Done done) {
    workers_.try_post([this, pending = Pending{std::move(delivery), std::move(done)}]() mutable {
        pending.answer(answer(pending.delivery()));
    });
}

event::Answer Sink::answer(const event::Delivery& delivery) const {
    auto objects = buckets_->seen_by(delivery.space);
    if (delivery.target == asl::items_function) {
        return answer_as(asl::ItemPages{*objects}.read(delivery.payload),
                         "States.ItemReaderFailed");
    }
    if (delivery.target == asl::results_function) {
        return answer_as(asl::write_results(*objects, delivery.payload),
                         "States.ResultWriterFailed");
    }
    return asl::call_objects(*objects, delivery.target, delivery.payload);
}

} // namespace sluice::connector::objects

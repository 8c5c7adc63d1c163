#include "connector/amqp/internal/lane.h"

namespace sluice::connector::amqp::internal {

Lane::Lane(Settings settings) : settings_(std::move(settings)), builder_(settings_.limits) {}

Result<void> Lane::check(std::uint64_t number) const {
    if (settings_.is_beyond && number <= settings_.position) {
        return fail(Errc::NotFound,
                    "stream {} has a new message {}, and all up to {} were read: it was made anew; "
                    "begin from 0 to read it",
                    name(), number, settings_.position);
    }
    return {};
}

bool Lane::admit(std::uint64_t number, std::uint64_t last) {
    // What lies before the position is there to show that the stream still is what was read.
    if (first_number_ == 0) {
        first_number_ = number;
    }
    if (last <= settings_.position || settings_.is_probe) {
        return false;
    }
    if (number > settings_.position + 1 && settings_.position > 0 && gap_ == 0) {
        gap_ = settings_.position;
    }
    settings_.position = last;
    return true;
}

void Lane::add(std::uint64_t number, const Result<event::Message>& message, std::string_view raw) {
    if (message) [[likely]] {
        builder_.add(number, *message);
    } else {
        builder_.add_fault(number, raw, message.error().message);
    }
}

void Lane::add_fault(std::uint64_t number, std::string_view raw, std::string fault) {
    builder_.add_fault(number, raw, std::move(fault));
}

event::Chunk Lane::take_chunk() {
    return builder_.take(settings_.name, is_numbered());
}

} // namespace sluice::connector::amqp::internal

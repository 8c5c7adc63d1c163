#include "server/services.h"

#include <utility>

namespace sluice::server {

void answer_from_worker(const Services& services, const Reply& reply,
                        std::move_only_function<Result<Value>()> read) {
    do_on_worker(services, reply,
                 [reply, read = std::move(read)]() mutable { answer(reply, read()); });
}

void do_on_worker(const Services& services, const Reply& reply, reactor::WorkerPool::Task task) {
    if (!services.workers.try_post(std::move(task))) {
        answer(reply, problem_of({Errc::Unavailable,
                                  "too many requests wait for the store: ask again in a moment"}));
    }
}

Handle on_worker(const Services& services, Handle handle) {
    return [&services, handle = std::move(handle)](Incoming incoming, const Reply& reply) {
        do_on_worker(services, reply, [handle, incoming = std::move(incoming), reply]() mutable {
            handle(std::move(incoming), reply);
        });
    };
}

} // namespace sluice::server

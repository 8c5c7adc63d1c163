#include "http/internal/pending_answer.h"

#include "http/internal/response_text.h"

namespace sluice::http::internal {

bool BodyStream::offer(std::string bytes) {
    if (is_closed_.load() || bytes.empty()) {
        return !is_closed_.load();
    }
    auto chunk = chunk_text(bytes);
    auto size = chunk.size();
    if (waiting_bytes_.fetch_add(size) + size > bytes_max_) {
        waiting_bytes_.fetch_sub(size);
        return false;
    }
    gate_->enter([self = shared_from_this(), chunk = std::move(chunk)] {
        self->queued_ += chunk;
        self->bell_.ring();
    });
    return true;
}

void BodyStream::close() {
    if (!is_closed_.exchange(true)) {
        gate_->enter([self = shared_from_this()] {
            self->is_last_ = true;
            self->bell_.ring();
        });
    }
}

Task<std::string> BodyStream::take() {
    while (queued_.empty() && !is_last_) {
        co_await bell_.wait();
    }
    co_return std::exchange(queued_, {});
}

void BodyStream::abandon() {
    is_last_ = true;
    bell_.ring();
}

void BodyStream::end() {
    is_closed_ = true;
    if (auto call = std::exchange(on_close_, nullptr)) {
        call();
    }
}

/// Gives the answer once; the last copy that goes without having done so gives 500.
class PendingAnswer::Handle final : public Exchange {
public:
    explicit Handle(std::shared_ptr<PendingAnswer> answer) : answer_(std::move(answer)) {}

    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    ~Handle() override { answer({.status = 500}); }

    void answer(Response response) override {
        if (!is_given_.exchange(true)) {
            answer_->give(std::move(response), nullptr);
        }
    }

    std::shared_ptr<Stream> stream(Response head, std::function<void()> on_close) override {
        auto body = std::make_shared<BodyStream>(answer_->gate_, answer_->stream_bytes_max_,
                                                 std::move(on_close));
        if (!is_given_.exchange(true)) {
            answer_->give(std::move(head), body);
        }
        return body;
    }

    void when_gone(std::function<void()> call) override { answer_->when_gone(std::move(call)); }

private:
    std::shared_ptr<PendingAnswer> answer_;
    std::atomic<bool> is_given_{false};
};

std::shared_ptr<Exchange> PendingAnswer::exchange() {
    return std::make_shared<Handle>(shared_from_this());
}

void PendingAnswer::abandon() {
    if (body) {
        body->abandon();
    } else {
        bell_.ring();
    }
}

void PendingAnswer::when_gone(std::function<void()> call) {
    gate_->enter([self = shared_from_this(), call = std::move(call)]() mutable {
        if (self->peer != nullptr) {
            self->peer->when_gone(std::move(call));
        }
    });
}

void PendingAnswer::give(Response given, std::shared_ptr<BodyStream> stream) {
    gate_->enter([self = shared_from_this(), given = std::move(given),
                  stream = std::move(stream)]() mutable {
        self->response = std::move(given);
        self->body = std::move(stream);
        self->bell_.ring();
    });
}

} // namespace sluice::http::internal

#include "connector/amqp/internal/stream/link.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace sluice::connector::amqp::internal::stream {

namespace {

// An answer may have to wait for leaders to be chosen.
constexpr auto answer_wait = std::chrono::seconds{20};

Result<void> check(ResponseCode code, std::string_view stream) {
    if (code == ResponseCode::Ok) {
        return {};
    }
    return fail(meaning_of(code), "the broker says of stream {}: {}", stream, text_of(code));
}

} // namespace

Link::Link(Connection connection, const Node& at, Note note)
    : connection_(std::move(connection)),
      node_(connection_.node().value_or(at)),
      note_(std::move(note)) {}

bool Link::is_full() const {
    return std::ranges::none_of(lanes_, [](const auto& lane) { return lane == nullptr; });
}

StreamLane* Link::find(std::string_view stream) const {
    auto found = std::ranges::find_if(
        lanes_, [&](const auto& lane) { return lane && lane->name() == stream; });
    return found == lanes_.end() ? nullptr : found->get();
}

Result<StreamPlaces> Link::locate(std::string_view stream) {
    connection_.writer().metadata(connection_.next_correlation(), stream);
    auto content = TRY(call(Key::Metadata));
    auto places = read_metadata(content);
    if (!places) {
        return fail(Errc::Unavailable, "{}", places.error().message);
    }
    TRY(check(places->code, stream));
    return *std::move(places);
}

Result<StreamLane*> Link::subscribe(Lane::Settings settings, const StreamStart& start,
                                    std::uint16_t prefetch) {
    auto& free = *std::find(lanes_.begin(), lanes_.end(), nullptr);
    auto id = static_cast<std::uint8_t>(&free - lanes_.data());
    free = std::make_unique<StreamLane>(std::move(settings), id, prefetch);
    connection_.writer().subscribe(
        connection_.next_correlation(),
        {.id = id, .stream = free->name(), .start = start, .credit = free->take_credit()});
    auto content = call(Key::Subscribe);
    auto response = content ? read_response(*content) : std::unexpected(content.error());
    auto done = response ? check(response->code, free->name()) : std::unexpected(response.error());
    if (!done) {
        free.reset();
        return std::unexpected(std::move(done).error());
    }
    return free.get();
}

void Link::unsubscribe(const StreamLane& lane) {
    if (unpacked_ == &lane) {
        unpacked_ = nullptr;
        connection_.drop();
    }
    auto id = lane.subscription();
    // What still comes for it is dropped.
    lanes_[id].reset();
    connection_.writer().unsubscribe(connection_.next_correlation(), id);
    std::ignore = call(Key::Unsubscribe);
}

Result<std::string> Link::call(Key key) {
    TRY(connection_.send());
    auto deadline = reactor::after(answer_wait);
    while (true) {
        if (unpacked_ != nullptr) {
            TRY(unpack(std::numeric_limits<std::size_t>::max()));
            continue;
        }
        auto frame = TRY(connection_.await(deadline));
        if (frame.is_response && frame.key == key) {
            auto content = std::string{frame.content};
            connection_.drop();
            return content;
        }
        TRY(take(frame));
    }
}

Result<bool> Link::receive(std::size_t bytes_max) {
    if (unpacked_ == nullptr) {
        auto frame = TRY(connection_.next());
        if (!frame) {
            return false;
        }
        TRY(take(*frame));
    }
    if (unpacked_ != nullptr) {
        TRY(unpack(bytes_max));
    }
    return true;
}

Result<void> Link::take(const Frame& frame) {
    if (frame.key == Key::Deliver) {
        return deliver(frame);
    }
    auto failure = Result<void>{};
    if (frame.key == Key::MetadataUpdate) {
        auto update = read_metadata_update(frame.content);
        if (update && find(update->stream) != nullptr) {
            failure = fail(Errc::Unavailable, "the broker ended the reading of stream {}: {}",
                           update->stream, text_of(update->code));
        }
    } else if (frame.key == Key::Close && !frame.is_response) {
        auto request = read_close(frame.content);
        connection_.writer().close_response(request ? request->correlation : 0);
        std::ignore = connection_.send();
        failure = fail(Errc::Unavailable, "the broker closed the connection: {}",
                       request ? request->reason : "it does not say why");
    }
    // What else comes is for those who publish, or says that the broker is there.
    connection_.drop();
    return failure;
}

Result<void> Link::deliver(const Frame& frame) {
    auto delivery = read_delivery(frame.content);
    auto* lane = delivery ? lanes_[delivery->subscription].get() : nullptr;
    if (lane == nullptr) {
        connection_.drop();
        return {};
    }
    TRY(lane->begin(delivery->chunk));
    unpacked_ = lane;
    return {};
}

Result<void> Link::unpack(std::size_t bytes_max) {
    auto is_done = TRY(unpacked_->unpack(bytes_max));
    note_(*unpacked_);
    if (is_done) {
        unpacked_ = nullptr;
        connection_.drop();
    }
    return {};
}

Result<void> Link::give_credit() {
    auto is_any = false;
    for (const auto& lane : lanes_) {
        if (auto chunks = lane ? lane->take_credit() : std::uint16_t{0}; chunks > 0) {
            connection_.writer().credit(lane->subscription(), chunks);
            is_any = true;
        }
    }
    return is_any ? connection_.send() : Result<void>{};
}

} // namespace sluice::connector::amqp::internal::stream

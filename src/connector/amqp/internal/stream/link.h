#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "connector/amqp/internal/stream/connection.h"
#include "connector/amqp/internal/stream/stream_lane.h"

namespace sluice::connector::amqp::internal::stream {

/// A connection to one node, with the streams that are read over it. Frames are taken one after the
/// other, so one that is half unpacked is the first.
class Link {
public:
    /// Told of each lane that may have got something.
    using Note = std::function<void(Lane&)>;

    Link(Connection connection, const Node& at, Note note);

    /// Where the node says that it is; where it was reached, when it does not say.
    const Node& node() const { return node_; }
    bool is_full() const;
    StreamLane* find(std::string_view stream) const;
    bool has(const StreamLane& lane) const { return lanes_[lane.subscription()].get() == &lane; }
    bool is_known() const { return connection_.node().has_value(); }

    Result<StreamPlaces> locate(std::string_view stream);
    Result<StreamLane*> subscribe(Lane::Settings settings, const StreamStart& start,
                                  std::uint16_t prefetch);
    /// A node that does not answer shows with the next `receive`.
    void unsubscribe(const StreamLane& lane);

    /// Takes in what is there, about so many bytes of one frame; false when nothing is.
    Result<bool> receive(std::size_t bytes_max);
    /// Lets the broker send as many chunks more as were taken.
    Result<void> give_credit();

    Connection& connection() { return connection_; }

private:
    Result<void> take(const Frame& frame);
    Result<void> deliver(const Frame& frame);
    Result<void> unpack(std::size_t bytes_max);
    /// The content of the answer, behind its correlation. Deliveries that come first are taken in.
    Result<std::string> call(Key key);

    Connection connection_;
    Node node_;
    Note note_;
    /// By subscription; those that are free are null.
    std::array<std::unique_ptr<StreamLane>, 256> lanes_;
    StreamLane* unpacked_ = nullptr; ///< Whose chunk is the first frame.
};

} // namespace sluice::connector::amqp::internal::stream

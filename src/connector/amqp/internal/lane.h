#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <amqp.h>

#include "base/result.h"
#include "connector/amqp/internal/binding.h"
#include "event/message.h"

namespace sluice::connector::amqp::internal {

enum class Numbering : std::uint8_t { ByOffset, ByDelivery };

/// One queue on one channel: puts its messages together frame by frame. No socket.
class Lane {
public:
    struct Settings {
        std::string name;
        std::string tag; ///< Of its consumer; what is meant for another is dropped.
        amqp_channel_t channel = 0;
        Numbering numbering = Numbering::ByOffset;
        /// All up to this one are behind us. Deliveries are counted on from here.
        std::uint64_t position = 0;
        /// Nothing up to the position may come; otherwise it is passed over.
        bool is_beyond = false;
        event::Limits limits{};
    };

    explicit Lane(Settings settings);

    /// True when a message is complete, and nothing refers to its frames any more. Fails when the
    /// queue is not of the type it was said to be.
    Result<bool> take(const amqp_frame_t& frame);

    const std::string& name() const { return settings_.name; }
    amqp_channel_t channel() const { return settings_.channel; }
    bool is_numbered() const { return settings_.numbering == Numbering::ByOffset; }
    /// The last number that came, taken or not.
    std::uint64_t position() const { return settings_.position; }
    /// The first number that ever came on this lane; 0: none yet.
    std::uint64_t first_number() const { return first_number_; }
    /// Behind which number some were left out, since this was asked last; 0: none.
    std::uint64_t take_gap() { return std::exchange(gap_, 0); }
    bool has_gap() const { return gap_ != 0; }
    std::uint64_t last_tag() const { return last_tag_; }
    /// Of a number that was counted on this lane; 0 when it was before.
    std::uint64_t tag_of(std::uint64_t number) const { return number > base_ ? number - base_ : 0; }
    std::size_t bytes() const { return builder_.bytes(); }
    std::size_t count() const { return builder_.count(); }
    event::Chunk take_chunk();

    /// What was taken and not yet paid for with an acknowledgement.
    std::uint64_t credited_tag = 0;
    /// Acknowledged once it is durable.
    std::uint64_t confirmed_tag = 0;
    bool is_waiting = false; ///< Has a chunk to be fetched.

private:
    enum class Awaited : std::uint8_t { Method, Header, Body };

    Result<bool> take_header(const amqp_frame_t& frame);
    Result<bool> take_body(std::string_view part);
    Result<std::uint64_t> number_of(const amqp_basic_properties_t& properties) const;
    void finish(std::string_view body);

    Settings settings_;
    std::uint64_t base_ = 0;
    event::ChunkBuilder builder_;
    MessageReader reader_;

    Awaited awaited_ = Awaited::Method;
    bool is_ours_ = false;      ///< Not of an earlier consumer.
    bool is_oversized_ = false; ///< Its beginning is kept, for people.
    const amqp_basic_properties_t* properties_ = nullptr;
    std::uint64_t number_ = 0;
    std::uint64_t body_size_ = 0;
    std::uint64_t body_taken_ = 0;
    std::string body_; ///< Of messages in several frames.

    std::uint64_t first_number_ = 0;
    std::uint64_t gap_ = 0;
    std::uint64_t last_tag_ = 0;
};

} // namespace sluice::connector::amqp::internal

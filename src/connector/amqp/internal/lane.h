#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "event/message.h"

namespace sluice::connector::amqp::internal {

enum class Numbering : std::uint8_t { ByOffset, ByDelivery };

/// One queue that is read: what came of it and waits to be fetched, and how far it got. No socket.
class Lane {
public:
    struct Settings {
        std::string name;
        Numbering numbering = Numbering::ByOffset;
        /// All up to this one are behind us. Deliveries are counted on from here.
        std::uint64_t position = 0;
        /// Nothing up to the position may come; otherwise it is passed over.
        bool is_beyond = false;
        /// The first number is all that is wanted.
        bool is_probe = false;
        event::Limits limits{};
    };

    virtual ~Lane() = default;
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    const std::string& name() const { return settings_.name; }
    bool is_numbered() const { return settings_.numbering == Numbering::ByOffset; }
    /// The last number that came, taken or not.
    std::uint64_t position() const { return settings_.position; }
    /// The first number that ever came on this lane; 0: none yet.
    std::uint64_t first_number() const { return first_number_; }
    /// Behind which number some were left out, since this was asked last; 0: none.
    std::uint64_t take_gap() { return std::exchange(gap_, 0); }
    bool has_gap() const { return gap_ != 0; }
    std::size_t bytes() const { return builder_.bytes(); }
    std::size_t count() const { return builder_.count(); }
    event::Chunk take_chunk();

    // The session's own notes.
    bool is_waiting = false; ///< Has a chunk to be fetched.
    std::size_t noted_bytes = 0;
    std::size_t noted_count = 0;

protected:
    explicit Lane(Settings settings);

    /// Fails with NotFound when this number cannot come on a stream that is still the same.
    Result<void> check(std::uint64_t number) const;
    /// Whether the message of this number is to be added: it was not read before. `last` is that of
    /// several that are added as one.
    bool admit(std::uint64_t number, std::uint64_t last);
    bool admit(std::uint64_t number) { return admit(number, number); }
    void add(std::uint64_t number, const Result<event::Message>& message, std::string_view raw);
    void add_fault(std::uint64_t number, std::string_view raw, std::string fault);

    const Settings& settings() const { return settings_; }

private:
    Settings settings_;
    event::ChunkBuilder builder_;
    std::uint64_t first_number_ = 0;
    std::uint64_t gap_ = 0;
};

} // namespace sluice::connector::amqp::internal

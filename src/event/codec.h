#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "event/event.h"

namespace sluice::event {

struct Limits {
    std::size_t event_bytes_max = 1024UL * 1024;
    std::size_t batch_bytes_max = 64UL * 1024 * 1024;
    std::size_t batch_events_max = 100'000;
    std::size_t depth_max = 128; ///< Of containers within `data`; at most 1000.
    std::size_t attributes_max = 64;
};

/// The JSON format of CloudEvents 1.0, structured and batch, strictly validated.
///
/// Holds a parser's buffers: one for each thread. A batch is all or nothing; the error names the
/// index of the bad event.
class Codec {
public:
    explicit Codec(Limits limits = {});
    ~Codec();
    Codec(Codec&&) noexcept;
    Codec& operator=(Codec&&) noexcept;

    /// One event. Fails with InvalidInput or LimitExceeded, saying which attribute and why.
    Result<Event> parse(std::string_view json);
    /// A JSON array of events. They share one copy of the text.
    Result<std::vector<Event>> parse_batch(std::string_view json);
    /// One event out of a shared buffer without copying it: `json` must lie inside what `owner`
    /// keeps, and have `padding_bytes` readable bytes behind it.
    Result<Event> parse_shared(std::string_view json, const std::shared_ptr<const void>& owner);
    /// What this program stored itself: attributes are found, not validated again. Fails with
    /// Corrupt.
    Result<Event> parse_trusted(std::string_view json, const std::shared_ptr<const void>& owner);

    /// What a reader of whole words may touch behind a shared text.
    static const std::size_t padding_bytes;

private:
    struct State;

    Event keep(std::shared_ptr<const void> owner);

    std::unique_ptr<State> state_;
};

/// Events in a JSON array.
std::string to_batch_json(std::span<const Event> events);

} // namespace sluice::event

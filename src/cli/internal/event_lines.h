#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "event/codec.h"

namespace sluice::cli {

/// Takes CloudEvents apart as they come: one JSON object a line, or one JSON text that is an event
/// or a list of them. Which it is, its first line tells.
class EventLines {
public:
    /// The events that are whole now. Fails with InvalidInput, naming the line.
    Result<std::vector<Event>> feed(std::string_view bytes);
    /// The rest.
    Result<std::vector<Event>> finish();

private:
    enum class Form : std::uint8_t { Unknown, Lines, Whole };

    Result<void> take_line(std::string_view line, std::vector<Event>& events);

    event::Codec codec_;
    Form form_ = Form::Unknown;
    std::string held_;
    std::uint64_t line_ = 0;
};

} // namespace sluice::cli

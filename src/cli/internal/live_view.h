#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "value/value.h"

namespace sluice::cli {

/// The last events of a run and where it stands, drawn over what was drawn before. Pure: what to
/// write is handed out.
class LiveView {
public:
    LiveView(std::string run, std::size_t columns, std::size_t rows)
        : run_(std::move(run)), columns_(columns), rows_(rows) {}

    void add(const Value& entry);
    /// Takes back what it drew last, and draws anew.
    std::string draw(std::string_view status);

private:
    std::string run_;
    std::size_t columns_;
    std::size_t rows_; ///< Of events.
    std::size_t drawn_ = 0;
    std::deque<std::string> lines_;
    std::string events_ = "0";
    std::size_t fired_ = 0;
};

/// Whether this entry of a history ended its run.
bool has_ended_run(const Value& entry);
/// An event of a history on one line.
std::string event_line(const Value& entry);

} // namespace sluice::cli

#pragma once

#include <atomic>
#include <deque>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "event/codec.h"
#include "event/source.h"

namespace sluice::app {

/// The events of a file, one a line, numbered by their lines: a run that continues goes on behind
/// the last line it took.
class LinesSource final : public event::Source {
public:
    struct Reports {
        /// A line that is no event; it is left out.
        std::function<void(std::uint64_t line, const Error& error)> bad_line;
        /// An event that is durable now.
        std::function<void(std::uint64_t line, const std::string& id)> accepted;
    };

    /// Events that name no run get this one.
    static Result<std::unique_ptr<LinesSource>> open(const std::string& path, std::string run,
                                                     Reports reports);

    std::string_view name() const override { return name_; }
    Result<std::vector<std::string>> partitions() override { return std::vector{name_}; }
    Result<void> resume(std::string_view partition, std::uint64_t position) override;
    Result<event::Chunk> read(std::size_t bytes_max, Nanos wait) override;
    void pass_over(std::string_view partition, std::uint64_t number) override;
    void confirm(std::string_view partition, std::uint64_t position) override;

    /// From any thread: it is at its end from here on.
    void stop() { is_stopped_ = true; }

private:
    LinesSource(std::ifstream file, std::string name, std::string run, Reports reports);

    /// False at the end of the file. Of a line that no event can have only the beginning is kept.
    bool read_line(std::string& line);
    /// The next event, or nothing at the end of the file.
    std::optional<event::Event> next();

    std::ifstream file_;
    const std::string name_;
    const std::string run_;
    const Reports reports_;
    event::Codec codec_;
    std::string buffer_;
    std::uint64_t line_ = 0; ///< The last one read.
    std::deque<std::pair<std::uint64_t, std::string>>
        taken_; ///< Ids that are not confirmed yet, by their lines.
    std::atomic<bool> is_stopped_ = false;
};

} // namespace sluice::app

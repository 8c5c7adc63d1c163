#include "sluice/run/lines_source.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "event/message.h"
#include "sluice/run/event_line.h"

namespace sluice::app {

namespace {

constexpr auto line_bytes_max = 2 * event::Limits{}.event_bytes_max;

} // namespace

Result<std::unique_ptr<LinesSource>> LinesSource::open(const std::string& path, std::string run,
                                                       Reports reports) {
    auto file = std::ifstream{path, std::ios::binary};
    if (!file || std::filesystem::is_directory(path)) {
        return fail(Errc::NotFound, "cannot read the events in {}: {}", path,
                    file ? "it is a directory" : std::strerror(errno));
    }
    // Of its run, because another run may take the same file from its beginning.
    auto name = fmt::format("lines:{}@{}", std::filesystem::path{path}.filename().string(), run);
    return std::unique_ptr<LinesSource>{
        new LinesSource{std::move(file), std::move(name), std::move(run), std::move(reports)}};
}

LinesSource::LinesSource(std::ifstream file, std::string name, std::string run, Reports reports)
    : file_(std::move(file)),
      name_(std::move(name)),
      run_(std::move(run)),
      reports_(std::move(reports)),
      buffer_(line_bytes_max, '\0') {}

bool LinesSource::read_line(std::string& line) {
    file_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    auto count = static_cast<std::size_t>(file_.gcount());
    if (count == 0) {
        return false;
    }
    // The end of the line is counted, unless the file ends without or the line is too long.
    line.assign(buffer_, 0, file_.good() ? count - 1 : count);
    if (file_.fail()) {
        file_.clear();
        file_.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    ++line_;
    return true;
}

Result<void> LinesSource::resume(std::string_view /*partition*/, std::uint64_t position) {
    auto line = std::string{};
    while (line_ < position && read_line(line)) {
    }
    return {};
}

std::optional<event::Event> LinesSource::next() {
    auto line = std::string{};
    while (!is_stopped_ && read_line(line)) {
        if (is_blank(line)) {
            continue;
        }
        if (auto event = read_event_line(codec_, line, run_)) {
            return *std::move(event);
        } else {
            reports_.bad_line(line_, event.error());
        }
    }
    return std::nullopt;
}

Result<event::Chunk> LinesSource::read(std::size_t bytes_max, Nanos /*wait*/) {
    auto gathered = event::ChunkBuilder{};
    while (gathered.bytes() < bytes_max) {
        auto event = next();
        if (!event) {
            break;
        }
        gathered.add(line_, {.content_type = {}, .attributes = {}, .body = event->json()});
        taken_.emplace_back(line_, event->id());
    }
    auto chunk = gathered.take(name_);
    chunk.is_last = chunk.records.empty();
    return chunk;
}

void LinesSource::pass_over(std::string_view /*partition*/, std::uint64_t number) {
    std::erase_if(taken_, [&](const auto& each) { return each.first == number; });
}

void LinesSource::confirm(std::string_view /*partition*/, std::uint64_t position) {
    while (!taken_.empty() && taken_.front().first <= position) {
        reports_.accepted(taken_.front().first, taken_.front().second);
        taken_.pop_front();
    }
}

} // namespace sluice::app

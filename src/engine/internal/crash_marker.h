#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/fingerprint.h"
#include "base/result.h"

namespace sluice::engine {

/// Remembers, across the end of the process, which event each lane was deciding.
///
/// A page of memory that is a file: noting an event is a few stores and no system call, and the
/// page outlives a process that dies. An event that was being decided when the process stopped,
/// twice, is a suspect: it is set aside so that the rest can go on.
class CrashMarker {
public:
    static constexpr std::size_t lanes_max = 64;
    static constexpr std::size_t suspects_max = 96;
    static constexpr std::uint32_t stops_max = 2;

    /// Reads what the last process left. A file that is missing or not ours begins anew.
    static Result<std::unique_ptr<CrashMarker>> open(const std::filesystem::path& path);
    ~CrashMarker();
    CrashMarker(const CrashMarker&) = delete;
    CrashMarker& operator=(const CrashMarker&) = delete;

    /// What stands for an event of a run: the same when it comes again.
    static Fingerprint print_of(std::string_view run, std::string_view source, std::string_view id);

    /// By the lane's own thread.
    void begin(std::size_t lane, const Fingerprint& event);
    void end(std::size_t lane);

    /// Deciding it has stopped the process before, as often as is allowed.
    bool is_suspect(const Fingerprint& event) const;
    bool has_suspects() const { return has_suspects_; }

private:
    struct Deciding {
        std::uint64_t is_deciding;
        Fingerprint event;
    };
    struct Suspect {
        Fingerprint event;
        std::uint32_t stops;
        std::uint32_t reserved;
    };
    struct Page {
        std::uint64_t magic;
        std::array<Deciding, lanes_max> lanes;
        std::array<Suspect, suspects_max> suspects;
    };
    static_assert(sizeof(Page) <= 4096, "one page, so that no part of it is older than another");

    explicit CrashMarker(Page* page) : page_(page) {}
    void take_stock();
    void clear(const Fingerprint& event);

    Page* page_;
    bool has_stops_ = false;
    bool has_suspects_ = false;
};

} // namespace sluice::engine

#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/result.h"
#include "connector/nats/options.h"
#include "observe/diagnostics.h"

namespace sluice::connector::nats {

class Session;

/// Tells the server, lazily and on a thread and connection of its own, how far streams have been
/// read: a durable consumer of the group's name stands at the position, for tools that show or
/// scale by the lag, and what lies behind is purged if that is wanted.
///
/// Nothing depends on it: what it cannot say now it says later.
class GroupMarker {
public:
    struct Settings {
        Options server;
        std::string filter{};
        bool is_purging = false;
        Nanos interval = std::chrono::seconds{1};
    };

    /// The diagnostics outlive it.
    GroupMarker(Settings settings, observe::Diagnostics& diagnostics);
    /// Says the last positions first, if the server answers soon.
    ~GroupMarker();
    GroupMarker(const GroupMarker&) = delete;
    GroupMarker& operator=(const GroupMarker&) = delete;

    void move(const std::string& stream, std::uint64_t position);
    /// No more is said of it once what is known has been said.
    void forget(const std::string& stream);

private:
    struct Mark {
        std::uint64_t position = 0;
        bool is_said = false;
        bool is_refused = false; ///< There is a consumer of that name that is not ours.
    };

    void run();
    /// True when everything has been said.
    bool say_all(Session& session);
    Result<void> say(const Session& session, const std::string& stream, std::uint64_t position,
                     bool is_refused);

    Settings settings_;
    observe::Diagnostics& diagnostics_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::map<std::string, Mark, std::less<>> marks_;
    bool is_dirty_ = false;
    bool is_stopping_ = false;
    std::thread thread_;
};

} // namespace sluice::connector::nats

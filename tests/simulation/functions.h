#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "action_log.h"
#include "base/random.h"
#include "engine/dispatcher.h"
#include "event/sink.h"
#include "timeline.h"

namespace sluice::simulation {

/// What tokens are sealed with: the same in every life of every seed.
inline constexpr auto secret = engine::Secret{4, 7, 1, 1};

/// Functions that take their time, fail as planned, and go on working when the process that called
/// them is gone.
///
/// `work` gives its input back. `flaky` fails its first attempts, how many follows from the key.
class Functions final : public event::Sink {
public:
    /// What a caller's grave gets: the answer of an attempt that began in an earlier life.
    using Zombie = std::function<void(engine::AnswerInput)>;

    Functions(Timeline& timeline, Random& random, ActionLog& log, Zombie zombie)
        : timeline_(timeline), random_(random), log_(log), zombie_(std::move(zombie)) {}

    void deliver(event::Delivery delivery, Done done) override;
    void cancel(std::string_view token) override;

    /// The process died: nobody waits for what is under way.
    void orphan();
    std::map<std::string, engine::Function> declared();
    /// How often each task was carried out, by its idempotency key.
    const std::map<std::string, std::uint64_t>& effects() const { return effects_; }

private:
    struct Pending {
        event::Delivery delivery;
        std::optional<Done> done; ///< Nothing: its caller is gone.
        bool is_delayed = false;
    };

    void finish(std::uint64_t number);
    event::Answer answer_of(const event::Delivery& delivery);

    Timeline& timeline_;
    Random& random_;
    ActionLog& log_;
    Zombie zombie_;
    std::uint64_t count_ = 0;
    std::map<std::uint64_t, Pending> pending_;
    std::map<std::string, std::uint64_t> effects_;
};

} // namespace sluice::simulation

#include "cluster/task_desk.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

namespace sluice::cluster {

namespace {

using connector::poll::Desk;
using connector::poll::Question;
using connector::poll::Task;

// So long the others are given to answer who does not want to wait.
constexpr auto answer_wait = Nanos{std::chrono::milliseconds{250}};
constexpr auto listen_wait = Nanos{std::chrono::seconds{20}};
constexpr auto rest_time = Nanos{std::chrono::milliseconds{500}};
constexpr auto tasks_at_once_max = std::size_t{100};

} // namespace

/// Who waits for the tasks of each function, and what every process was asked for them. Nobody is
/// called under the lock.
class TaskDesk::Lines : public std::enable_shared_from_this<Lines> {
public:
    using Name = std::pair<std::string, std::string>; ///< Namespace, function.
    using Calls = std::vector<std::function<void()>>; ///< To be made without the lock.

    Lines(Desk& own, AskPeer ask_peer, reactor::Scheduler& timers)
        : own_(own), ask_peer_(std::move(ask_peer)), timers_(timers) {}

    std::function<void()> ask(Question question, Take take) {
        auto lock = std::unique_lock{mutex_};
        if (has_ended_) {
            lock.unlock();
            take({});
            return {};
        }
        auto name = Name{std::move(question.space), std::move(question.function)};
        auto number = ++last_;
        auto timer = later(std::max(question.wait, answer_wait), [name, number](Lines& self) {
            self.give_up(name, number, Why::TimeOver);
        });
        auto& line = lines_[name];
        line.askers.emplace(number,
                            Asker{.most = question.most, .take = std::move(take), .timer = timer});
        auto calls = listen(name, line);
        lock.unlock();
        make(calls);
        return [weak = weak_from_this(), name, number] {
            if (auto self = weak.lock()) {
                self->give_up(name, number, Why::Gone);
            }
        };
    }

    void end_asking() {
        auto lock = std::unique_lock{mutex_};
        has_ended_ = true;
        auto lines = std::exchange(lines_, {});
        lock.unlock();
        for (auto& [name, line] : lines) {
            for (auto& [address, place] : line.places) {
                withdraw(place);
            }
            for (auto& [number, asker] : line.askers) {
                timers_.cancel(asker.timer);
                asker.take({});
            }
        }
    }

    void set_peers(std::vector<std::string> addresses) {
        auto lock = std::unique_lock{mutex_};
        addresses_ = std::move(addresses);
        auto calls = Calls{};
        for (auto& [name, line] : lines_) {
            for (auto at = line.places.begin(); at != line.places.end();) {
                auto& [address, place] = *at;
                auto stays = address.empty() || place.stage == Stage::Taking ||
                             std::ranges::find(addresses_, address) != addresses_.end();
                if (!stays) {
                    calls.push_back(std::move(place.withdraw));
                }
                at = stays ? std::next(at) : line.places.erase(at);
            }
            std::ranges::move(listen(name, line), std::back_inserter(calls));
        }
        lock.unlock();
        make(calls);
    }

private:
    enum class Why : std::uint8_t { TimeOver, Gone };
    enum class Stage : std::uint8_t {
        Idle,
        Listening, ///< It tells when it has a task.
        Told,      ///< It has one; as many as are wanted are on their way from others.
        Taking,    ///< It had one, and was asked for it.
        Resting,   ///< It could not be reached.
    };

    struct Asker {
        std::size_t most = 1;
        Take take;
        reactor::TimerId timer;
        bool is_late = false; ///< Its time is over, but something is under way.
    };
    /// A process, for one function.
    struct Place {
        Stage stage = Stage::Idle;
        std::uint64_t asked = 0; ///< Which question it is to answer.
        std::size_t most = 0;    ///< Tasks that may be on their way from it.
        std::function<void()> withdraw{};
    };
    struct Line {
        std::map<std::uint64_t, Asker> askers; ///< The first that came first.
        std::map<std::string, Place> places;   ///< By address; empty: this process.
    };
    struct Handed {
        Take take;
        std::vector<Task> tasks;
    };

    static void make(Calls& calls) {
        for (auto& call : calls) {
            if (call) {
                call();
            }
        }
    }
    static void withdraw(Place& place) {
        if (place.withdraw) {
            std::exchange(place.withdraw, {})();
        }
    }

    template <typename Work>
    reactor::TimerId later(Nanos delay, Work work) {
        return timers_.after(delay, [weak = weak_from_this(), work = std::move(work)] {
            if (auto self = weak.lock()) {
                work(*self);
            }
        });
    }

    static bool is_taking(const Line& line) {
        return std::ranges::any_of(
            line.places, [](const auto& each) { return each.second.stage == Stage::Taking; });
    }

    /// Every process that is asked nothing just now is asked to tell.
    Calls listen(const Name& name, Line& line) {
        auto calls = Calls{};
        if (line.askers.empty()) {
            return calls;
        }
        auto ask_at = [&](const std::string& address) {
            auto& place = line.places[address];
            if (place.stage == Stage::Idle) {
                place.stage = Stage::Listening;
                place.asked = ++last_;
                calls.push_back([this, name, address, asked = place.asked] {
                    ask_place(name, address, asked, 0, listen_wait);
                });
            }
        };
        ask_at("");
        std::ranges::for_each(addresses_, ask_at);
        return calls;
    }

    void ask_place(const Name& name, const std::string& address, std::uint64_t asked,
                   std::size_t most, Nanos wait) {
        auto question =
            Question{.space = name.first, .function = name.second, .most = most, .wait = wait};
        auto hear = [weak = weak_from_this(), name, address,
                     asked](Result<std::vector<Task>> tasks) {
            if (auto self = weak.lock()) {
                self->hear(name, address, asked, std::move(tasks));
            }
        };
        auto call_off = address.empty()
                            ? own_.ask(std::move(question),
                                       [hear](std::vector<Task> tasks) { hear(std::move(tasks)); })
                            : ask_peer_(address, question, std::move(hear));
        auto lock = std::unique_lock{mutex_};
        auto* place = find(name, address, asked);
        if (place != nullptr && place->stage == Stage::Listening) {
            place->withdraw = std::move(call_off);
        } else if (place == nullptr && most == 0 && call_off) {
            lock.unlock();
            call_off(); // Who waited is gone already.
        }
    }

    Place* find(const Name& name, const std::string& address, std::uint64_t asked) {
        auto line = lines_.find(name);
        if (line == lines_.end()) {
            return nullptr;
        }
        auto place = line->second.places.find(address);
        return place == line->second.places.end() || place->second.asked != asked ? nullptr
                                                                                  : &place->second;
    }

    void hear(const Name& name, const std::string& address, std::uint64_t asked,
              Result<std::vector<Task>> tasks) {
        auto lock = std::unique_lock{mutex_};
        auto* place = find(name, address, asked);
        if (place == nullptr) {
            return;
        }
        place->withdraw = {};
        auto& line = lines_.at(name);
        auto was = std::exchange(place->stage, Stage::Idle);
        place->most = 0;
        auto handed = std::vector<Handed>{};
        auto calls = Calls{};
        if (was == Stage::Taking && tasks) {
            handed = share_out(line, std::move(*tasks));
        }
        if (!tasks) {
            place->stage = Stage::Resting;
            later(rest_time,
                  [name, address, asked](Lines& self) { self.wake(name, address, asked); });
        } else if (was == Stage::Listening) {
            place->stage = Stage::Told;
        }
        dismiss_late(line, handed);
        std::ranges::move(take(name, line), std::back_inserter(calls));
        std::ranges::move(listen(name, line), std::back_inserter(calls));
        forget_unless_needed(name, calls);
        lock.unlock();
        for (auto& each : handed) {
            each.take(std::move(each.tasks));
        }
        make(calls);
    }

    void wake(const Name& name, const std::string& address, std::uint64_t asked) {
        auto lock = std::unique_lock{mutex_};
        auto* place = find(name, address, asked);
        if (place == nullptr || place->stage != Stage::Resting) {
            return;
        }
        place->stage = Stage::Idle;
        auto calls = listen(name, lines_.at(name));
        lock.unlock();
        make(calls);
    }

    /// From those that have some, no more than are wanted.
    Calls take(const Name& name, Line& line) {
        auto calls = Calls{};
        auto wanted = std::size_t{0};
        for (const auto& [number, asker] : line.askers) {
            wanted += asker.most;
        }
        for (const auto& [address, place] : line.places) {
            wanted -= std::min(wanted, place.most);
        }
        for (auto& [address, place] : line.places) {
            if (place.stage == Stage::Told && wanted > 0) {
                place.stage = Stage::Taking;
                place.most = std::min(wanted, tasks_at_once_max);
                wanted -= place.most;
                calls.push_back([this, name, address, asked = place.asked, most = place.most] {
                    ask_place(name, address, asked, most, Nanos{0});
                });
            }
        }
        return calls;
    }

    /// A task for which nobody is left comes again when its lease ends, as if its worker had died.
    std::vector<Handed> share_out(Line& line, std::vector<Task> tasks) {
        auto handed = std::vector<Handed>{};
        auto next = tasks.begin();
        while (next != tasks.end() && !line.askers.empty()) {
            auto asker = std::move(line.askers.extract(line.askers.begin()).mapped());
            timers_.cancel(asker.timer);
            auto count = std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(asker.most),
                                                  std::distance(next, tasks.end()));
            handed.push_back(
                {.take = std::move(asker.take),
                 .tasks = {std::make_move_iterator(next), std::make_move_iterator(next + count)}});
            next += count;
        }
        return handed;
    }

    void dismiss_late(Line& line, std::vector<Handed>& handed) {
        if (is_taking(line)) {
            return;
        }
        for (auto at = line.askers.begin(); at != line.askers.end();) {
            if (at->second.is_late) {
                handed.push_back({.take = std::move(at->second.take), .tasks = {}});
            }
            at = at->second.is_late ? line.askers.erase(at) : std::next(at);
        }
    }

    void give_up(const Name& name, std::uint64_t number, Why why) {
        auto lock = std::unique_lock{mutex_};
        auto found = lines_.find(name);
        if (found == lines_.end()) {
            return;
        }
        auto& line = found->second;
        auto asker = line.askers.find(number);
        if (asker == line.askers.end()) {
            return;
        }
        if (why == Why::TimeOver && is_taking(line)) {
            asker->second.is_late = true;
            return;
        }
        timers_.cancel(asker->second.timer);
        auto take = std::move(asker->second.take);
        line.askers.erase(asker);
        auto calls = Calls{};
        forget_unless_needed(name, calls);
        lock.unlock();
        make(calls);
        take({});
    }

    /// Where nobody waits any more nobody has to tell.
    void forget_unless_needed(const Name& name, Calls& calls) {
        auto found = lines_.find(name);
        if (!found->second.askers.empty() || is_taking(found->second)) {
            return;
        }
        for (auto& [address, place] : found->second.places) {
            calls.push_back(std::move(place.withdraw));
        }
        lines_.erase(found);
    }

    Desk& own_;
    AskPeer ask_peer_;
    reactor::Scheduler& timers_;
    std::mutex mutex_; ///< Of what follows.
    bool has_ended_ = false;
    std::uint64_t last_ = 0;
    std::vector<std::string> addresses_;
    std::map<Name, Line> lines_;
};

TaskDesk::TaskDesk(Desk& own, AskPeer ask_peer, reactor::Scheduler& timers)
    : lines_(std::make_shared<Lines>(own, std::move(ask_peer), timers)) {}

TaskDesk::~TaskDesk() {
    end_asking();
}

std::function<void()> TaskDesk::ask(Question question, Take take) {
    return lines_->ask(std::move(question), std::move(take));
}

void TaskDesk::end_asking() {
    lines_->end_asking();
}

void TaskDesk::set_peers(std::vector<std::string> addresses) {
    lines_->set_peers(std::move(addresses));
}

} // namespace sluice::cluster

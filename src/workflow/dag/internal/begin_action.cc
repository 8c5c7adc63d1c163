#include "workflow/dag/internal/begin_action.h"

#include <algorithm>
#include <string>

#include "trigger/arrival.h"
#include "trigger/firing.h"
#include "trigger/form_reader.h"
#include "workflow/dag/internal/task_bindings.h"
#include "workflow/dag/internal/words.h"

namespace sluice::workflow::dag::internal {

namespace {

constexpr auto first_group = std::uint32_t{32};
constexpr auto largest_group = std::uint32_t{1024};

class BeginAction final : public trigger::Action {
public:
    explicit BeginAction(std::int64_t groups) : groups_(groups) {}

    trigger::Attempt<void> perform(trigger::Firing& firing) const override {
        auto left = groups_ - 1;
        if (firing.event().type() == trigger::types::run_reopened) {
            const auto& memory = memory_of(firing.state(), firing.scope(), firing.trigger());
            left = memory.is_int() ? memory.as_int() : 0;
        }
        if (left == 0) {
            return {};
        }
        auto slice = TRY(firing.slice(Value{left}));
        slice.end = slice.begin;
        if (firing.is_continued()) {
            auto group = groups_ - static_cast<std::int64_t>(slice.count - slice.begin);
            firing.emit({.type = std::string{words::tasks_begun},
                         .subject = std::to_string(group),
                         .data = {},
                         .scope = ""},
                        firing.scope());
            ++slice.end;
        }
        firing.record(trigger::Remembered{
            .scope = firing.scope(),
            .trigger = firing.trigger(),
            .memory = Value{static_cast<std::int64_t>(slice.count - slice.end)}});
        firing.finish_slice(slice);
        return {};
    }

private:
    std::int64_t groups_;
};

} // namespace

std::uint32_t BeginGroups::next() {
    if (taken_ == std::min(largest_group, first_group << std::min(group_, 5U))) {
        ++group_;
        taken_ = 0;
    }
    ++taken_;
    return group_;
}

std::shared_ptr<const trigger::Action> make_begin(const Value& params, Problems& problems) {
    auto reader = trigger::FormReader{params, "", problems, {"groups"}};
    auto groups = reader.count("groups", 1, UINT32_MAX).value_or(1);
    return std::make_shared<BeginAction>(static_cast<std::int64_t>(groups));
}

} // namespace sluice::workflow::dag::internal

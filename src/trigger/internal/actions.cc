#include "trigger/internal/actions.h"

#include "trigger/action.h"
#include "trigger/arrival.h"
#include "trigger/trigger_set.h"

namespace sluice::trigger {

std::map<std::string, ActionFactory, std::less<>> built_in_actions() {
    return {{"invoke", actions::make_invoke},
            {"start", actions::make_start},
            {"emit", actions::make_emit},
            {"reply", actions::make_reply},
            {"set", actions::make_set},
            {"enable", actions::make_enable},
            {"disable", actions::make_disable},
            {"add", actions::make_add},
            {"remove", actions::make_remove},
            {"modify", actions::make_modify},
            {"finish", actions::make_finish},
            {"schedule", actions::make_schedule},
            {"cancel", actions::make_cancel},
            {"open", actions::make_open},
            {"close", actions::make_close},
            {"hold", actions::make_hold},
            {"release", actions::make_release},
            {"continue", actions::make_continue},
            {std::string{admit_action}, actions::make_admit}};
}

std::map<std::string, Value, std::less<>> built_in_standing() {
    auto admit = Value::object({{"id", "admit"},
                                {"on", Value::list({types::place_wanted, types::place_left})},
                                {"action", admit_action},
                                {"lifetime", "persistent"},
                                {"on_error", "skip"}});
    return {{"definition", Value::object({{"name", "definition"},
                                          {"dedupe", "none"},
                                          {"unmatched", "drop"},
                                          {"retention", "24h"},
                                          {"triggers", Value::list({admit})}})}};
}

} // namespace sluice::trigger

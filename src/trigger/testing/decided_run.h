#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "event/builder.h"
#include "trigger/decider.h"
#include "value/json.h"

namespace sluice::trigger::testing {

/// One run, started, with what became of each of its events.
class DecidedRun : public ::testing::Test {
protected:
    void start(const std::string& form) {
        auto problems = std::vector<Problem>{};
        auto spec = parse_set(*value::parse_json(form), {}, problems);
        auto set = TriggerSet::compile(std::move(spec), vocabulary_, problems);
        ASSERT_TRUE(problems.empty()) << to_error(problems).message;
        triggers_ = std::make_unique<RunTriggers>(std::move(set), vocabulary_);
        state_.id = "run";
        decide(start_arrival(state_, {.definition = "test", .set = "hash"},
                             triggers_->spec().context, moment_));
    }

    Fate send(const std::string& type, const std::string& scope = "",
              const std::string& sequence = "") {
        auto made = event::Builder{std::to_string(++sent_), "test", type};
        made.scope(scope);
        if (!sequence.empty()) {
            made.attribute("sequence", sequence);
        }
        return decide({.event = made.build(), .moment = moment_});
    }

    Fate send_data(const std::string& type, const Value& data) {
        auto made = event::Builder{std::to_string(++sent_), "test", type};
        made.data(data);
        return decide({.event = made.build(), .moment = moment_});
    }

    Fate decide(const Arrival& arrival) { return decider().decide(arrival); }
    void take_turn() { decider().take_turn(moment_); }

    std::vector<Entry> entries() { return decode_record(journal_.record({})).value(); }

    std::vector<Fate> fates() {
        auto found = std::vector<Fate>{};
        for (const auto& entry : entries()) {
            found.push_back(entry.fate);
        }
        return found;
    }

    Decider decider() { return {state_, *triggers_, journal_, codec_, limits_}; }

    DecideLimits limits_;
    Vocabulary vocabulary_;
    std::unique_ptr<RunTriggers> triggers_;
    RunState state_;
    Journal journal_;
    event::Codec codec_;
    Moment moment_;
    int sent_ = 0;
};

} // namespace sluice::trigger::testing

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "connector/builtin/sink.h"
#include "event/sink.h"
#include "reactor/virtual_time.h"
#include "trial/stage.h"
#include "trial/test_file.h"
#include "workflow/raw/function_form.h"

namespace sluice::trial::internal {

/// An attempt of a call, as its function saw it.
struct MadeCall {
    std::string function;
    std::string task;
    std::uint32_t attempt = 1;
    Value input;
};

/// Answers calls as a case says. The built-in functions do what they always do, unless the case
/// says otherwise.
class MockedCast final : public Cast, private event::Sink {
public:
    /// All of them outlive it.
    MockedCast(const Case& tried, const std::vector<workflow::raw::FunctionForm>& declared,
               reactor::VirtualTime& time);
    ~MockedCast() override = default;

    engine::Function function(const std::string& name) override;
    void note(const engine::Call& call) override;

    const std::vector<MadeCall>& calls() const { return calls_; }
    /// Events that were sent to sinks, which are the functions here.
    const std::vector<MadeCall>& sent() const { return sent_; }
    /// What to write, if a function was called that nobody answers for.
    const std::optional<std::string>& missing() const { return missing_; }

private:
    void deliver(event::Delivery delivery, Done done) override;
    void take_event(event::Delivery delivery, Done done);
    void cancel(std::string_view token) override;

    struct Pending {
        reactor::TimerId timer;
        Done done;
    };

    /// Null: there is none for it.
    const Reply* find_reply(const event::Delivery& delivery, const std::string& task);
    const Reply* choose(const std::vector<Reply>& replies, const Value& input);
    void answer(const Reply& reply, event::Delivery delivery, Done done);
    void answer_later(const std::string& token, Nanos delay, event::Answer answer, Done done);
    /// The built-in function that it is; empty: none.
    std::string builtin_of(const std::string& function) const;
    void report_missing(const event::Delivery& delivery, const std::string& task);

    const Case& case_;
    reactor::VirtualTime& time_;
    connector::builtin::Sink builtin_;
    std::map<std::string, const workflow::raw::FunctionForm*> declared_;
    std::map<std::string, std::string> tasks_;            ///< By the key of the call.
    std::map<const Reply*, std::uint64_t> given_;         ///< How often.
    std::map<std::string, const Reply*> of_attempts_;     ///< For further attempts, by key.
    std::map<std::string, Pending, std::less<>> pending_; ///< By token.
    std::set<std::string> to_sinks_;                      ///< Keys of what is sent there.
    std::vector<MadeCall> calls_;
    std::vector<MadeCall> sent_;
    std::optional<std::string> missing_;
};

} // namespace sluice::trial::internal

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/value.h"

namespace sluice::workflow::asl {

/// What the tasks of a state machine answer when it is tried:
/// docs/reference/states-language/run.md.
class Mocks {
public:
    /// A list of `{state, resource, input | anyInput, outcomes}`. Fails with InvalidInput.
    static Result<Mocks> read(const Value& form);

    /// Whether there is one for calls of this state.
    bool has(std::string_view state) const;
    /// The outcome of the next call of a state's task with this input, an echo made its result.
    /// Fails with NotFound where there is no mock for it, saying what was called.
    Result<Value> answer(std::string_view state, const Value& input);

private:
    struct Mock {
        std::string state; ///< Empty: of any.
        bool takes_any_input = false;
        Value input;
        std::vector<Value> outcomes;
        std::size_t calls = 0;
    };

    std::vector<Mock> mocks_;
};

/// Whether a value is as expected: numbers by value, and `<name>` in a text stands for any text.
bool is_like(const Value& expected, const Value& got);

} // namespace sluice::workflow::asl

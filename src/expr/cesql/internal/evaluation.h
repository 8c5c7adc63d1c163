#pragma once

#include <string>
#include <vector>

#include "expr/cesql/internal/node.h"
#include "expr/meter.h"
#include "expr/program.h"

namespace sluice::expr::cesql::internal {

/// What a part of an expression came to. A part with an error makes the operator around it answer
/// the zero value of its own result.
struct Part {
    Value value;
    bool has_error = false;
};

/// One evaluation: its errors are its only state.
class Evaluation {
public:
    Evaluation(const Bindings& event, Meter& meter) : event_{event}, meter_{meter} {}

    Part evaluate(const Node& node);
    std::vector<Fault> take_errors() { return std::move(errors_); }

private:
    Part attribute(const Node& node);
    Part negate(const Node& node);
    Part deny(const Node& node);
    Part like(const Node& node);
    Part in(const Node& node);
    Part call(const Node& node);
    Part chain(const Node& node);
    Part logic(const Node& node, std::size_t at, const Part& left);
    Part comparison(const Node& node, std::size_t at, const Part& left);
    Part arithmetic(const Node& node, std::size_t at, const Part& left);
    /// The part, cast; an error is told where it cannot be.
    Part as(value::Kind kind, Part part, std::size_t position);
    Part fault(value::Kind kind, const char* code, std::string message, std::size_t position);

    const Bindings& event_;
    Meter& meter_;
    std::vector<Fault> errors_;
};

} // namespace sluice::expr::cesql::internal

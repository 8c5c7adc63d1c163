#include "expr/cel/typed.h"

namespace sluice::expr::cel {

Outcome evaluate_case(const TypedCase& /*one*/, const Budget& /*budget*/, bool /*typed*/) {
    return Fault{"unsupported", "typed evaluation is not built yet", 0};
}

} // namespace sluice::expr::cel

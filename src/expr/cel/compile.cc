#include "expr/cel/compile.h"

#include <memory>
#include <utility>

#include "base/result.h"
#include "expr/cel/internal/evaluate.h"
#include "expr/cel/internal/lexer.h"
#include "expr/cel/internal/parser.h"
#include "expr/meter.h"

namespace sluice::expr::cel {
namespace {

class TreeCode final : public Code {
public:
    explicit TreeCode(internal::Tree tree) : tree_{std::move(tree)} {}

    Outcome evaluate(const Bindings& bindings, const Budget& budget) const override {
        auto meter = Meter{budget};
        return internal::evaluate(tree_, bindings, budget, meter);
    }

private:
    internal::Tree tree_;
};

} // namespace

Compiled compile(std::string_view text, const CompileOptions& options) {
    TRY(internal::check_encoding(text));
    auto tokens = TRY(internal::tokenize(text, 0, internal::Until::End));
    auto tree = TRY(internal::parse(text, tokens, {.options = options}));
    return Program{text, std::make_shared<const TreeCode>(std::move(tree))};
}

} // namespace sluice::expr::cel

#include "expr/program.h"

#include <utility>

#include "expr/internal/evaluate.h"
#include "expr/internal/lexer.h"
#include "expr/internal/parser.h"

namespace sluice::expr {

struct Program::Code {
    std::string text;
    internal::Tree tree;
};

Program::Program(std::shared_ptr<const Code> code) : code_{std::move(code)} {}

Result<Program> Program::compile(std::string_view text, const CompileOptions& options) {
    TRY(internal::check_encoding(text));
    auto tokens = TRY(internal::tokenize(text, 0, internal::Until::End));
    auto tree = TRY(internal::parse(text, tokens, options));
    return Program{std::make_shared<const Code>(std::string{text}, std::move(tree))};
}

Outcome Program::evaluate(const Bindings& bindings, const Budget& budget) const {
    auto meter = internal::Meter{budget};
    return internal::evaluate(code_->tree, bindings, meter);
}

const std::string& Program::text() const {
    return code_->text;
}

} // namespace sluice::expr

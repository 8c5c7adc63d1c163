#include "expr/cel/compile.h"

#include <memory>
#include <utility>

#include "base/result.h"
#include "expr/cel/internal/lexer.h"
#include "expr/cel/internal/parser.h"
#include "expr/cel/internal/tree_code.h"

namespace sluice::expr::cel {
Compiled compile(std::string_view text, const CompileOptions& options) {
    TRY(internal::check_encoding(text));
    auto tokens = TRY(internal::tokenize(text, 0, internal::Until::End));
    auto tree = TRY(internal::parse(text, tokens, {.options = options}));
    return Program{text, std::make_shared<const internal::TreeCode>(std::move(tree))};
}

} // namespace sluice::expr::cel

#include "expr/jsonpath/path.h"

#include <utility>

#include "base/result.h"
#include "expr/jsonpath/internal/jayway_parser.h"
#include "expr/jsonpath/internal/query.h"
#include "expr/jsonpath/internal/rfc_parser.h"
#include "expr/jsonpath/internal/selection.h"
#include "expr/jsonpath/internal/tail_function.h"
#include "expr/meter.h"

namespace sluice::expr::jsonpath {
namespace {

std::unexpected<Fault> spent() {
    return std::unexpected(Fault{"budget", "the path looks at more than its budget allows", 0});
}

/// What the caller gets is a list of 16 bytes a value: the values themselves are shared.
bool is_within(Meter& meter, std::size_t count) {
    return !meter.is_exhausted() && meter.spend_output(count * sizeof(Value));
}

} // namespace

Path::Path(std::string_view text, std::shared_ptr<const internal::Query> query)
    : text_{text}, query_{std::move(query)} {}

std::expected<Path, Fault> Path::compile(std::string_view text, Dialect dialect) {
    auto query =
        TRY(dialect == Dialect::Rfc9535 ? internal::parse_rfc(text) : internal::parse_jayway(text));
    return Path{text, std::make_shared<const internal::Query>(std::move(query))};
}

bool Path::is_definite() const {
    return internal::yields_one(*query_);
}

std::expected<std::vector<Value>, Fault> Path::select(const Value& root,
                                                      const Budget& budget) const {
    auto meter = Meter{budget};
    auto selection = internal::Selection{root, meter, internal::Places::Forgotten};
    auto values = selection.read_all(*query_, selection.root());
    if (!is_within(meter, values ? values->size() : 0)) {
        return spent();
    }
    return values;
}

std::expected<std::vector<Match>, Fault> Path::locate(const Value& root,
                                                      const Budget& budget) const {
    auto meter = Meter{budget};
    auto selection = internal::Selection{root, meter, internal::Places::Kept};
    auto matches = std::vector<Match>{};
    for (const auto& node : selection.select(*query_, selection.root())) {
        matches.push_back({selection.normalized_path(node.place), *node.value});
        if (!meter.spend_output(sizeof(Match) + matches.back().path.size())) {
            break;
        }
    }
    if (meter.is_exhausted()) {
        return spent();
    }
    return matches;
}

std::expected<Value, Fault> Path::read(const Value& root, const Budget& budget) const {
    auto values = TRY(select(root, budget));
    if (!is_definite()) {
        return Value::list(std::move(values));
    }
    if (values.empty()) {
        return std::unexpected(
            Fault{"no_such_member", fmt::format("nothing is found at {}", text_), 0});
    }
    return std::move(values.front());
}

} // namespace sluice::expr::jsonpath

#include "cli/json_option.h"

#include "cli/internal/files.h"

namespace sluice::cli {

Result<Value> read_json_option(std::string_view option, const std::string& given,
                               const value::JsonLimits& limits) {
    auto is_file = given.starts_with('@');
    auto text = is_file ? TRY(read_text(given.substr(1))) : given;
    auto parsed = value::parse_json(text, limits);
    if (!parsed) {
        return fail(Errc::InvalidInput, "{}{}: {}; expected JSON, or @FILE", option,
                    is_file ? " " + given : "", parsed.error().message);
    }
    return *std::move(parsed);
}

} // namespace sluice::cli

#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "expr/states/sight.h"
#include "value/value.h"

namespace sluice::expr::states {

/// What is wrong with a template: where in it, as a JSON pointer (`/Payload/id.$`), and why.
struct TemplateProblem {
    std::string pointer;
    std::string message;
};

/// What a template may use besides `$states.input` and `$states.context`.
struct TemplateSite {
    Language language = Language::JsonPath;
    bool has_result = false;
    bool has_error_output = false;
};

/// A field that is computed: a payload template with keys ending in `.$`, or any JSON with strings
/// `{% … %}` in it. Immutable, compiled once; copies share it. Constant parts cost nothing.
class Template {
public:
    static std::expected<Template, std::vector<TemplateProblem>> compile(const Value& form,
                                                                         const TemplateSite& site);

    /// `field` names it in failures: `Output`, `Parameters`; parts add their own names.
    std::expected<Value, Failure> evaluate(const Sight& sight, std::string_view field) const;
    bool is_constant() const;
    /// As its author wrote it.
    const Value& form() const;
    /// Variables that it reads.
    const std::vector<std::string>& variables() const;

private:
    struct Plan;
    explicit Template(std::shared_ptr<const Plan> plan);

    std::shared_ptr<const Plan> plan_;
};

/// A field that names one thing: `$.a`, `$$.Map.Item.Index`, `$name.b`, or an intrinsic function.
class Selector {
public:
    /// What may be written there.
    enum class Kind : std::uint8_t {
        Path,           ///< `InputPath`, `OutputPath`: any path.
        Reference,      ///< `ItemsPath`, `SecondsPath`, `Variable`: a reference path.
        PathOrFunction, ///< Values of `.$` keys, `ErrorPath`.
    };
    static std::expected<Selector, std::string> compile(std::string_view text, Kind kind);

    /// A path that finds nothing fails as `InputPath` does ("Invalid path '…' : No results …").
    std::expected<Value, Failure> read(const Sight& sight) const;
    /// Nothing when there is nothing: Choice's `IsPresent`.
    std::optional<Value> find(const Sight& sight) const;
    const std::string& text() const;
    bool is_function() const;

private:
    struct Plan;
    explicit Selector(std::shared_ptr<const Plan> plan);

    std::shared_ptr<const Plan> plan_;
};

} // namespace sluice::expr::states

#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "expr/states/selector.h"
#include "expr/states/sight.h"
#include "value/value.h"

namespace sluice::expr::states {

/// What is wrong with a template, in the service's words: the object or list that it is in, as a
/// JSON pointer from the template's own root (`/Payload`), and why.
struct TemplateProblem {
    std::string pointer;
    std::string message;

    bool operator==(const TemplateProblem&) const = default;
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
    /// Of a form that is one JSONata expression, what stands between the marks; empty otherwise.
    std::string_view expression() const;
    /// Variables that it reads.
    const std::vector<std::string>& variables() const;
    /// Its expressions that read `$`, `$$` or a name by itself, for which there is no value.
    const std::vector<std::string>& input_readers() const;

private:
    struct Plan;
    explicit Template(std::shared_ptr<const Plan> plan);

    std::shared_ptr<const Plan> plan_;
};

/// Whether a text is a JSONata expression as a whole.
bool is_expression(std::string_view text);

/// The text of a JSONata string without its marks and the blanks beside them; nothing when it is
/// a literal.
std::string_view expression_in(std::string_view text);

/// What a JSONata field fails with whose value is of another type than it takes.
Failure unexpected_type(const Template& source, std::string_view field, std::string_view expected,
                        const Value& value);

} // namespace sluice::expr::states

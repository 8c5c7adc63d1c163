#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "expr/program.h"
#include "value/value.h"

namespace sluice::expr::jsonpath {

/// A States Language reference path: names and indices alone, so that it has one place only, to
/// read from or to write to.
class ReferencePath {
public:
    /// Fails with `invalid_path`: also for `@ , : ? *` and `..`, which name several places.
    static std::expected<ReferencePath, Fault> compile(std::string_view text);

    /// Fails with `no_such_member` when there is nothing.
    std::expected<Value, Fault> read(const Value& root) const;
    /// The root with `value` at the place, as `ResultPath` puts it there: missing objects are made
    /// on the way, `$` replaces all. Fails with `no_container` where the way leads through what is
    /// no object, or by an index that a list does not have.
    std::expected<Value, Fault> write(const Value& root, Value value) const;

    const std::string& text() const { return text_; }

private:
    using Step = std::variant<std::string, std::int64_t>;

    ReferencePath(std::string_view text, std::vector<Step> steps);
    /// The part of the text up to a step, for messages.
    std::string text_to(std::size_t step) const;
    std::expected<Value, Fault> enter(const Value& parent, std::size_t step, bool is_new) const;

    std::string text_;
    std::vector<Step> steps_;
};

} // namespace sluice::expr::jsonpath

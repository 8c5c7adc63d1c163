#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "expr/program.h"
#include "value/value.h"

namespace sluice::expr::jsonpath {

namespace internal {
struct Query;
} // namespace internal

enum class Dialect : std::uint8_t {
    Rfc9535,
    Jayway, ///< What the States Language means by a path.
};

/// A value that a path selects, and where it stands: `$['a'][0]`, RFC 9535's normalized path.
struct Match {
    std::string path;
    Value value;

    bool operator==(const Match&) const = default;
};

/// A compiled JSONPath. Immutable; copies share it, also between threads.
class Path {
public:
    /// Fails with `invalid_path`: bad syntax, ill-typed functions, numbers out of range.
    static std::expected<Path, Fault> compile(std::string_view text, Dialect dialect);

    /// Whether it can select one value at most: only then does `read` yield the value itself.
    bool is_definite() const;

    /// All that it selects, in order. Fails with `budget`, and in Jayway's dialect where a function
    /// at the path's end fails.
    std::expected<std::vector<Value>, Fault> select(const Value& root,
                                                    const Budget& budget = {}) const;
    /// The same with the place of each.
    std::expected<std::vector<Match>, Fault> locate(const Value& root,
                                                    const Budget& budget = {}) const;
    /// As Jayway reads: the value of a definite path, `no_such_member` when there is none; else the
    /// list of all it selects, which may be empty.
    std::expected<Value, Fault> read(const Value& root, const Budget& budget = {}) const;

    /// Whether it is names and indices alone: `find` then leads to its one place without a copy.
    bool is_plain() const;
    /// Of a plain path; null when nothing is there.
    const Value* find(const Value& root) const;
    /// Why a plain path finds nothing there, in Jayway's words.
    std::string explain_missing(const Value& root) const;
    /// The first of its steps that finds nothing, a name or an index; empty when all find
    /// something.
    std::string missing_step(const Value& root) const;
    /// Whether only its last step finds nothing, an index that a list does not have.
    bool ends_outside_a_list(const Value& root) const;

    const std::string& text() const { return text_; }

private:
    Path(std::string_view text, std::shared_ptr<const internal::Query> query);

    std::string text_;
    std::shared_ptr<const internal::Query> query_;
};

} // namespace sluice::expr::jsonpath

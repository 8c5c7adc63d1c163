#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expr/states/sight.h"
#include "value/value.h"

namespace sluice::expr::states {

/// A field that names one thing: `$.a`, `$$.Map.Item.Index`, `$name.b`, or an intrinsic function.
/// Immutable, compiled once; copies share it.
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
    /// The same for a field that tells its name: "The JSONPath '…' specified for the field '…'
    /// could not be found in the input '…'", as `Parameters` and `ErrorPath` do.
    std::expected<Value, Failure> read_for(std::string_view field, const Sight& sight) const;
    /// Nothing when there is nothing: Choice's `IsPresent`.
    std::optional<Value> find(const Sight& sight) const;
    /// What `find` finds without a copy: it is in what the sight shows, or in `made`.
    const Value* find(const Sight& sight, Value& made) const;

    /// Of a path that finds nothing, the step that does.
    std::string missing_step(const Sight& sight) const;

    const std::string& text() const;
    bool is_function() const;
    /// Whether it is `$`, which every default is.
    bool is_everything() const;
    /// Variables that it reads.
    const std::vector<std::string>& variables() const;

private:
    struct Plan;
    explicit Selector(std::shared_ptr<const Plan> plan);

    std::shared_ptr<const Plan> plan_;
};

} // namespace sluice::expr::states

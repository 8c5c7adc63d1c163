#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "event/event.h"
#include "value/value.h"

namespace sluice::event {

/// What a dialect makes of its part of a filter. Pure, and safe to ask from any thread.
class Predicate {
public:
    virtual ~Predicate() = default;
    virtual bool matches(const Event& event) const = 0;
    /// All values that this attribute can have in an event that matches; nothing: it does not say.
    virtual std::optional<std::vector<std::string>> values_of(
        std::string_view /*attribute*/) const {
        return std::nullopt;
    }
};

/// Further dialects by name, such as an expression language.
using Dialects =
    std::map<std::string,
             std::function<Result<std::shared_ptr<const Predicate>>(const Value& form)>,
             std::less<>>;

/// Which events are meant: the filter dialects of CloudEvents subscriptions.
///
/// `exact`, `prefix` and `suffix` have attributes with the text they must have, begin or end with;
/// an event without the attribute does not match. `all`, `any` and `not` put filters together.
class Filter {
public:
    static constexpr auto depth_max = std::size_t{16};
    static constexpr auto predicates_max = std::size_t{1'000};

    /// Matches every event.
    Filter();
    /// A map with one dialect, a list of filters that all must match, or an empty one of either.
    /// Fails with InvalidInput, saying where.
    static Result<Filter> parse(const Value& form, const Dialects& dialects = {});

    bool matches(const Event& event) const { return predicate_->matches(event); }
    std::optional<std::vector<std::string>> values_of(std::string_view attribute) const {
        return predicate_->values_of(attribute);
    }

private:
    explicit Filter(std::shared_ptr<const Predicate> predicate)
        : predicate_(std::move(predicate)) {}

    std::shared_ptr<const Predicate> predicate_;
};

} // namespace sluice::event

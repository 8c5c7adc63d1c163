#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "event/source.h"
#include "server/intake/sources.h"

namespace sluice::server::intake {

/// How events of brokers are read; the server knows none of them.
struct Brokers {
    /// What is wrong with a form; empty: nothing.
    std::function<std::string(const Value& form)> check;
    /// For a source of this namespace.
    std::function<Result<std::unique_ptr<event::Source>>(std::string_view space, const Value& form)>
        open;
    /// A form as people may see it.
    std::function<Value(const Value& form)> shown;
};

/// What a broker holds: read by position, so that each event is taken once. `{url, from, …}`
///
/// A broker that cannot be reached is tried again; an error that stays is told with the source.
class BrokerKind final : public SourceKind {
public:
    explicit BrokerKind(Brokers brokers) : brokers_(std::move(brokers)) {}

    std::optional<Problem> check(const Value& form) const override;
    Value shown(const Value& form) const override { return brokers_.shown(form); }
    std::unique_ptr<RunningSource> run(const Value& form, SourceFeed& feed) const override;

private:
    Brokers brokers_;
};

} // namespace sluice::server::intake

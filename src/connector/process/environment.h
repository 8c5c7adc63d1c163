#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "connector/process/function.h"
#include "reactor/command.h"
#include "secret/secrets.h"

namespace sluice::connector::process {

/// What a function sees of secrets, and what others see of them through it: nothing.
class Environment {
public:
    using Variables = std::vector<std::pair<std::string, std::string>>;

    /// Without secrets, references stay as they are. They outlive this; the function only has to as
    /// long as its variables are asked for.
    Environment(const Function& function, const secret::Secrets* secrets);

    bool has_secrets() const { return secrets_ != nullptr; }
    /// With secrets in place of their references. Fails as Secrets::expand does.
    Result<Variables> variables() const;
    /// What it wrote, with references in place of secrets.
    std::string redacted(std::string_view text) const;
    reactor::Outcome redacted(const reactor::Outcome& outcome) const;

private:
    const Function& function_;
    const secret::Secrets* secrets_; ///< Null where nothing refers to one.
};

} // namespace sluice::connector::process

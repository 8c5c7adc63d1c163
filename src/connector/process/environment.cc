#include "connector/process/environment.h"

#include <algorithm>

namespace sluice::connector::process {

Environment::Environment(const Function& function, const secret::Secrets* secrets)
    : function_(function) {
    auto refers = std::ranges::any_of(function.environment, [](const auto& variable) {
        return secret::Secrets::has_reference(variable.second);
    });
    secrets_ = refers ? secrets : nullptr;
}

Result<Environment::Variables> Environment::variables() const {
    auto variables = function_.environment;
    if (secrets_ != nullptr) {
        for (auto& [name, value] : variables) {
            value = TRY(secrets_->expand(value, function_.secret_scope));
        }
    }
    return variables;
}

std::string Environment::redacted(std::string_view text) const {
    return secrets_ == nullptr ? std::string{text} : secrets_->redact(std::string{text});
}

reactor::Outcome Environment::redacted(const reactor::Outcome& outcome) const {
    auto told = outcome;
    told.output = redacted(outcome.output);
    told.errors = redacted(outcome.errors);
    return told;
}

} // namespace sluice::connector::process

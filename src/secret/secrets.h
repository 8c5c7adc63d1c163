#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::secret {

/// Secrets by the names that texts refer to them with: `Bearer ${secret:mail_key}`.
///
/// A secret is the file of that name in a folder, or else SLUICE_SECRET_MAIL_KEY of the
/// environment. Files are read at each use, so a secret that was changed is used from then on. May
/// be called from any thread.
class Secrets {
public:
    static constexpr auto secret_bytes_max = std::size_t{64} << 10U;
    using Variables = std::map<std::string, std::string, std::less<>>;

    /// There are none.
    Secrets() = default;
    /// Without a folder, only those of the environment: by the names of their variables.
    Secrets(std::filesystem::path folder, Variables variables)
        : folder_(std::move(folder)), variables_(std::move(variables)) {}

    /// The text with secrets in place of their references. Fails with NotFound for one that is not
    /// there, with InvalidInput for a reference that is none; tells no secret in doing so. With a
    /// scope, only files in the subfolder of that name count: what a tenant writes reaches no
    /// secrets but its own.
    Result<std::string> expand(std::string_view text, std::string_view scope = {}) const;
    /// The text with references in place of every secret that was given out so far.
    std::string redact(std::string text) const;

    static bool has_reference(std::string_view text);

private:
    Result<std::string> find(std::string_view name, std::string_view scope) const;

    std::filesystem::path folder_;
    Variables variables_;
    mutable std::mutex mutex_;
    mutable Variables given_out_; ///< Names by secret.
};

/// Those of the environment, which no process that is started from now on inherits. Call it before
/// there are threads.
Secrets::Variables take_from_environment();

} // namespace sluice::secret

#include "secret/secrets.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include <unistd.h>

namespace sluice::secret {

namespace {

constexpr std::string_view reference_begin = "${secret:";
constexpr std::string_view variable_begin = "SLUICE_SECRET_";
constexpr auto name_bytes_max = std::size_t{200};
/// Shorter ones would be found in texts that have nothing to do with them.
constexpr auto redacted_bytes_min = std::size_t{4};

/// Names no other folder, and no hidden file.
bool is_name(std::string_view name) {
    return !name.empty() && name.size() <= name_bytes_max && name.front() != '.' &&
           std::ranges::all_of(name, [](unsigned char letter) {
               return std::isalnum(letter) != 0 || letter == '_' || letter == '-' || letter == '.';
           });
}

std::string variable_of(std::string_view name) {
    auto variable = std::string{variable_begin};
    for (unsigned char letter : name) {
        variable += std::isalnum(letter) != 0 ? static_cast<char>(std::toupper(letter)) : '_';
    }
    return variable;
}

/// Whoever wrote the file with an editor or `echo` did not mean the end of the line.
void drop_line_end(std::string& text) {
    if (text.ends_with('\n')) {
        text.pop_back();
    }
    if (text.ends_with('\r')) {
        text.pop_back();
    }
}

Result<std::string> read_secret(const std::filesystem::path& path, std::string_view name) {
    auto file = std::ifstream{path, std::ios::binary};
    if (!file) {
        return fail(Errc::Io, "the secret {} cannot be read: {}", name, std::strerror(errno));
    }
    auto text = std::string(Secrets::secret_bytes_max + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > Secrets::secret_bytes_max) {
        return fail(Errc::LimitExceeded, "the secret {} has more than {} bytes", name,
                    Secrets::secret_bytes_max);
    }
    drop_line_end(text);
    return text;
}

} // namespace

bool Secrets::has_reference(std::string_view text) {
    return text.find(reference_begin) != std::string_view::npos;
}

Result<std::string> Secrets::expand(std::string_view text, std::string_view scope) const {
    auto expanded = std::string{};
    for (auto at = text.find(reference_begin); at != std::string_view::npos;
         at = text.find(reference_begin)) {
        expanded += text.substr(0, at);
        text.remove_prefix(at + reference_begin.size());
        auto end = text.find('}');
        auto name = text.substr(0, end);
        if (end == std::string_view::npos || !is_name(name)) {
            return fail(Errc::InvalidInput,
                        "a reference to a secret is ${{secret:NAME}}, the name of letters, digits, "
                        "_, - and .");
        }
        expanded += TRY(find(name, scope));
        text.remove_prefix(end + 1);
    }
    expanded += text;
    return expanded;
}

Result<std::string> Secrets::find(std::string_view name, std::string_view scope) const {
    auto path = folder_ / std::string{scope} / std::string{name};
    auto ignored = std::error_code{};
    auto may_read = !folder_.empty() && (scope.empty() || is_name(scope));
    auto variable = scope.empty() ? variables_.find(variable_of(name)) : variables_.end();
    auto found = std::string{};
    if (may_read && std::filesystem::is_regular_file(path, ignored)) {
        found = TRY(read_secret(path, name));
    } else if (variable != variables_.end()) {
        found = variable->second;
    } else if (!scope.empty()) {
        return fail(Errc::NotFound,
                    "there is no secret {0}: write it to the file {1}/{0} in the folder `secrets` "
                    "of the configuration",
                    name, scope);
    } else {
        return fail(Errc::NotFound,
                    "there is no secret {}: write it to a file of that name in the folder "
                    "`secrets` of the configuration, or set {}",
                    name, variable_of(name));
    }
    if (found.size() >= redacted_bytes_min) {
        auto lock = std::lock_guard{mutex_};
        given_out_.insert_or_assign(found, std::string{name});
    }
    return found;
}

std::string Secrets::redact(std::string text) const {
    auto lock = std::lock_guard{mutex_};
    for (const auto& [secret, name] : given_out_) {
        auto reference = fmt::format("{}{}}}", reference_begin, name);
        for (auto at = text.find(secret); at != std::string::npos;
             at = text.find(secret, at + reference.size())) {
            text.replace(at, secret.size(), reference);
        }
    }
    return text;
}

Secrets::Variables take_from_environment() {
    auto taken = Secrets::Variables{};
    for (auto entry = environ; *entry != nullptr; ++entry) {
        auto variable = std::string_view{*entry};
        if (auto end = variable.find('=');
            variable.starts_with(variable_begin) && end != std::string_view::npos) {
            taken.emplace(variable.substr(0, end), variable.substr(end + 1));
        }
    }
    for (const auto& [name, value] : taken) {
        ::unsetenv(name.c_str());
    }
    return taken;
}

} // namespace sluice::secret

#include "sluice/serve/configuration_source.h"

#include <cstdlib>

#include <unistd.h>

#include "sluice/definition_file.h"
#include "sluice/output.h"
#include "workflow/raw/parse.h"

namespace sluice::app {

namespace {

namespace raw = workflow::raw;

Error error_of(const Findings& findings) {
    auto text = std::string{};
    for (const auto& finding : findings) {
        text += (text.empty() ? "" : "\n") + raw::to_text(finding);
    }
    return {Errc::InvalidInput, text};
}

Result<void> read_file(const std::string& file, server::Configured& configured) {
    auto document = raw::parse(TRY(read_text(file)), file);
    if (!document) {
        return std::unexpected(error_of(document.error()));
    }
    auto findings = Findings{};
    for (auto& fault : configured.read_file(document->form)) {
        auto located = document->positions.locate(document->form, fault.path);
        findings.push_back({.file = file,
                            .line = located.place.line,
                            .column = located.place.column,
                            .path = std::move(fault.path),
                            .message = std::move(fault.message)});
    }
    if (!findings.empty()) {
        return std::unexpected(error_of(findings));
    }
    return {};
}

} // namespace

Result<server::Configured> ConfigurationSource::load() const {
    auto configured = server::Configured{};
    if (!file_.empty()) {
        TRY(read_file(file_, configured));
    }
    TRY(configured.read_environment(environment_));
    TRY(configured.read_flags(flags_));
    TRY(configured.check());
    return configured;
}

ConfigurationSource::Texts take_environment() {
    auto taken = ConfigurationSource::Texts{};
    for (const auto& setting : server::settings()) {
        auto name = setting.variable();
        const auto* value = name.empty() ? nullptr : std::getenv(name.c_str());
        if (value != nullptr) {
            taken.emplace(name, value);
        }
        if (value != nullptr && setting.is_secret) {
            ::unsetenv(name.c_str());
        }
    }
    return taken;
}

void show_configuration(const server::Configured& configured, bool is_json) {
    if (is_json) {
        print_json(configured.view());
        return;
    }
    auto table = Table{{"SETTING", "VALUE", "FROM"}};
    for (const auto& setting : server::settings()) {
        table.add({std::string{setting.name}, configured.text(setting),
                   std::string{to_string(configured.origin(setting))}});
    }
    table.print();
}

} // namespace sluice::app

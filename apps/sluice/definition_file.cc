#include "sluice/definition_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "base/fingerprint.h"
#include "sluice/output.h"
#include "value/json.h"
#include "workflow/asl/check.h"
#include "workflow/raw/check.h"
#include "workflow/raw/parse.h"

namespace sluice::app {

namespace {

namespace raw = workflow::raw;

constexpr auto text_bytes_max = std::size_t{64} << 20U;

void collect(const raw::Definition& definition, const std::string& text,
             std::vector<engine::Definition>& out) {
    for (const auto& nested : definition.nested) {
        collect(nested, text, out);
    }
    out.push_back({.name = definition.name,
                   .language = definition.language,
                   .form = definition.form,
                   .source = text});
}

/// What a run id may hold; `~` would separate a placement key.
std::string as_id(std::string name) {
    std::ranges::replace_if(
        name,
        [](char c) {
            return static_cast<unsigned char>(c) <= 0x20 || c == '/' || c == '~' || c == 0x7F;
        },
        '-');
    name.resize(std::min<std::size_t>(name.size(), 100));
    return name;
}

/// A file that never ends is as good as one that is too large.
Result<std::string> read_all(std::istream& in, const std::string& name) {
    auto text = std::string{};
    auto part = std::string(std::size_t{1} << 20U, '\0');
    while (in.read(part.data(), static_cast<std::streamsize>(part.size())) || in.gcount() > 0) {
        text.append(part, 0, static_cast<std::size_t>(in.gcount()));
        if (text.size() > text_bytes_max) {
            return fail(Errc::InvalidInput, "{} has more than {} bytes", name, text_bytes_max);
        }
    }
    if (in.bad()) {
        return fail(Errc::NotFound, "cannot read {}: {}", name, std::strerror(errno));
    }
    return text;
}

} // namespace

Result<std::string> read_text(const std::string& path) {
    if (path == "-") {
        return read_all(std::cin, "standard input");
    }
    auto ignored = std::error_code{};
    if (std::filesystem::is_directory(path, ignored)) {
        return fail(Errc::NotFound, "cannot read {}: it is a directory", path);
    }
    auto file = std::ifstream{path, std::ios::binary};
    if (!file) {
        return fail(Errc::NotFound, "cannot read {}: {}", path, std::strerror(errno));
    }
    return read_all(file, path);
}

std::vector<engine::Definition> LoadedDefinition::for_catalog() const {
    auto all = std::vector<engine::Definition>{};
    collect(definition, text, all);
    return all;
}

std::string LoadedDefinition::run_id(const Value& input) const {
    auto all = std::string{};
    for (const auto& hash : hashes) {
        all += hash;
    }
    auto print = fingerprint(all, value::to_json(input));
    return fmt::format("{}-{:012x}", as_id(definition.name), print.high >> 16U);
}

std::expected<LoadedDefinition, Findings> load_definition(std::string text, const std::string& file,
                                                          const trigger::Vocabulary& vocabulary,
                                                          const KnownFunctions& known) {
    auto document = parse_document(text, file);
    if (!document) {
        return std::unexpected(document.error());
    }
    auto definition = read_definition(*document, vocabulary, known);
    if (!definition) {
        return std::unexpected(std::move(definition.error()));
    }
    auto loaded = LoadedDefinition{.definition = *std::move(definition), .text = std::move(text)};
    for (const auto& each : loaded.for_catalog()) {
        loaded.hashes.push_back(engine::Catalog::hash_of(each));
    }
    return loaded;
}

std::expected<raw::Definition, Findings> load_machine(
    const std::string& text, const std::string& file,
    const workflow::asl::CompileOptions& options) {
    auto document = parse_document(text, file);
    if (!document) {
        return std::unexpected(document.error());
    }
    auto findings = workflow::asl::check(
        *document, {.is_express = options.is_express, .refuses_unsupported = !options.is_mocked});
    std::erase_if(findings, &raw::Finding::is_warning);
    if (!findings.empty()) {
        return std::unexpected(std::move(findings));
    }
    return workflow::asl::compile(document->form, options);
}

namespace {

raw::Finding finding_of(const raw::Document& document, trigger::Problem problem) {
    auto located = document.positions.locate(document.form, problem.path);
    return {.file = document.file,
            .line = located.place.line,
            .column = located.place.column,
            .path = std::move(located.path),
            .message = std::move(problem.message)};
}

} // namespace

std::expected<FunctionFile, Findings> load_functions(const std::string& text,
                                                     const std::string& file,
                                                     const trigger::Vocabulary& vocabulary) {
    auto document = raw::parse(text, file);
    if (!document) {
        return std::unexpected(document.error());
    }
    const auto* functions = document->form.find("functions");
    const auto* buckets = document->form.find("buckets");
    const auto* connections = document->form.find("connections");
    if (functions == nullptr && buckets == nullptr && connections == nullptr) {
        return std::unexpected(Findings{
            {.file = file,
             .message = "found no functions, expected them under `functions:`, or buckets under "
                        "`buckets:`, or connections under `connections:`"}});
    }
    // Without triggers it is no definition; only what is said of its functions counts here.
    auto findings = functions == nullptr ? Findings{} : raw::check(*document, vocabulary);
    std::erase_if(findings, [](const raw::Finding& finding) {
        return !finding.path.starts_with("functions");
    });
    auto read = FunctionFile{};
    auto problems = std::vector<trigger::Problem>{};
    if (buckets != nullptr) {
        read.integrations.buckets = connector::objects::read_buckets(*buckets, problems);
    }
    if (connections != nullptr) {
        read.integrations.connections = connector::http::read_connections(*connections, problems);
    }
    for (auto& problem : problems) {
        findings.push_back(finding_of(*document, std::move(problem)));
    }
    if (!findings.empty()) {
        return std::unexpected(std::move(findings));
    }
    for (auto& bucket : read.integrations.buckets) {
        if (!bucket.directory.empty()) {
            bucket.directory = std::filesystem::path{file}.parent_path() / bucket.directory;
        }
    }
    if (functions != nullptr) {
        read.functions = raw::compile(*document).functions;
    }
    return read;
}

void say_findings(const Findings& findings) {
    for (const auto& finding : findings) {
        say_line(raw::to_text(finding));
    }
}

Value to_value(const raw::Finding& finding) {
    auto location = finding.location.empty() ? "/" + finding.path : finding.location;
    auto value = Value::object({{"file", finding.file},
                                {"line", finding.line},
                                {"column", finding.column},
                                {"path", finding.path},
                                {"location", location},
                                {"severity", finding.is_warning ? "WARNING" : "ERROR"},
                                {"message", finding.message}});
    return finding.code.empty() ? value : value.with("code", finding.code);
}

} // namespace sluice::app

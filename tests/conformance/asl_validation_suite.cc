// Holds the reader of state machines to definitions that must be accepted or refused.
//
// usage: sluice_asl_validation_suite EXCEPTIONS FOLDER [NAME…]
//
// FOLDER has asl-validation/ and asl/public/. What the service was recorded refusing must be
// refused with the same code and location; what it ran must be accepted. EXCEPTIONS lists the cases
// that do not pass: name, two spaces, the reason. Fails when an unlisted case fails and when a
// listed one passes. With names, only those cases, and what was said of them.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "value/json.h"
#include "value/wording.h"
#include "workflow/asl/check.h"
#include "workflow/asl/parse.h"
#include "workflow/asl/read.h"

namespace {

namespace asl = sluice::workflow::asl;
namespace fs = std::filesystem;
using sluice::Value;
using sluice::value::text_at;

struct Refusal {
    std::string code; ///< Empty: any.
    std::string location;
};

struct Case {
    std::string name;
    std::string text;
    bool is_valid = false;
    std::optional<Refusal> refusal{};
    asl::ReadOptions options{};
};

std::string read_text(const fs::path& path) {
    auto file = std::ifstream{path, std::ios::binary};
    auto text = std::stringstream{};
    text << file.rdbuf();
    return text.str();
}

Value read_json(const fs::path& path) {
    auto value = sluice::value::parse_json(read_text(path), {.depth_max = asl::depth_max});
    if (!value) {
        fmt::print(stderr, "{}: {}\n", path.string(), value.error().message);
        std::exit(2);
    }
    return *value;
}

void add_listed(const fs::path& folder, const std::string& source, std::vector<Case>& cases) {
    auto index = read_json(folder / source / "index.json");
    for (const auto& entry : index.as_list()) {
        auto file = text_at(entry, "file");
        cases.push_back({.name = source + "/" + file,
                         .text = read_text(folder / source / file),
                         .is_valid = entry.find("valid")->as_bool()});
    }
}

void add_samples(const fs::path& folder, std::vector<Case>& cases) {
    auto samples = read_json(folder / "samples" / "workflows-collection.json");
    for (const auto& entry : samples.as_list()) {
        cases.push_back({.name = "samples/" + text_at(entry, "origin"),
                         .text = sluice::value::to_json(*entry.find("definition")),
                         .is_valid = entry.find("valid")->as_bool()});
    }
}

/// "…: 'SCHEMA_VALIDATION_FAILED: why at /States/X'": what the service said when it refused.
Refusal refusal_in(const Value& exception) {
    static const auto form = std::regex{"Definition: '([A-Z_]+): [^]* at (/[^']*)'"};
    auto text = text_at(exception, "message") + text_at(exception, "exception_value");
    auto found = std::smatch{};
    return std::regex_search(text, found, form) ? Refusal{found[1], found[2]} : Refusal{};
}

std::string text_of(const Value& vector, const Value& definition) {
    return vector.find("definitionIsRawString") != nullptr || definition.is_string()
               ? std::string{definition.as_string()}
               : sluice::value::to_json(definition);
}

void add_recorded(const Value& vector, std::vector<Case>& cases) {
    auto kind = text_at(vector, "kind");
    auto name = text_at(vector, "id");
    auto is_express =
        text_at(vector, "machineType") == "EXPRESS" || name.starts_with("sfn_api_express/");
    auto added = Case{.name = name, .options = {.is_express = is_express}};
    if (kind == "test-state") {
        const auto& definition = *vector.find("request")->find("definition");
        added.options.is_single_state = definition.is_map() && !asl::resembles_machine(definition);
        added.is_valid = true;
        added.text = text_of(vector, definition);
    } else {
        added.text = text_of(vector, *vector.find("definition"));
        added.is_valid = kind == "execution";
    }
    if (kind == "invalid-definition") {
        added.refusal = refusal_in(*vector.find("expectedException"));
    } else if (kind == "validate") {
        auto diagnostics = vector.find("expected")->find("diagnostics")->as_list();
        added.is_valid = diagnostics.empty();
        if (!added.is_valid) {
            added.refusal =
                Refusal{text_at(diagnostics[0], "code"), text_at(diagnostics[0], "location")};
        }
    }
    cases.push_back(std::move(added));
}

std::vector<Case> read_cases(const fs::path& folder) {
    auto cases = std::vector<Case>{};
    add_listed(folder / "asl-validation", "asl-validator", cases);
    add_listed(folder / "asl-validation", "statelint", cases);
    add_samples(folder / "asl-validation", cases);
    auto families = std::set<fs::path>{};
    for (const auto& entry : fs::directory_iterator{folder / "asl" / "public"}) {
        families.insert(entry.path());
    }
    for (const auto& family : families) {
        auto vectors = read_json(family);
        for (const auto& vector : vectors.as_list()) {
            add_recorded(vector, cases);
        }
    }
    return cases;
}

std::vector<asl::Diagnostic> diagnostics_of(const Case& test) {
    auto form = asl::parse(test.text);
    if (!form) {
        return {form.error()};
    }
    auto machine = asl::read(*form, test.options);
    return machine ? std::vector<asl::Diagnostic>{} : machine.error();
}

bool is_right(const Case& test, const std::vector<asl::Diagnostic>& diagnostics) {
    if (diagnostics.empty() || test.is_valid) {
        return diagnostics.empty() && test.is_valid;
    }
    if (!test.refusal || test.refusal->code.empty()) {
        return true;
    }
    return diagnostics.size() == 1 && diagnostics[0].code == test.refusal->code &&
           diagnostics[0].location == test.refusal->location;
}

std::map<std::string, std::string> read_exceptions(const fs::path& path) {
    auto exceptions = std::map<std::string, std::string>{};
    auto file = std::ifstream{path};
    for (auto line = std::string{}; std::getline(file, line);) {
        auto gap = line.find("  ");
        if (!line.empty() && !line.starts_with('#')) {
            exceptions[line.substr(0, gap)] = gap == std::string::npos ? "" : line.substr(gap + 2);
        }
    }
    return exceptions;
}

struct Tally {
    std::size_t passed = 0;
    std::size_t failed = 0;
    std::size_t surprises = 0;
};

void run(const Case& test, const std::map<std::string, std::string>& exceptions, bool is_wordy,
         Tally& tally) {
    auto diagnostics = diagnostics_of(test);
    auto is_passed = is_right(test, diagnostics);
    (is_passed ? tally.passed : tally.failed) += 1;
    auto is_surprise = is_passed == exceptions.contains(test.name);
    tally.surprises += is_surprise ? 1 : 0;
    if (!is_surprise && !is_wordy) {
        return;
    }
    fmt::print("{} {}: must be {}\n", is_passed ? "passed" : "FAILED", test.name,
               test.is_valid ? "accepted"
               : test.refusal
                   ? fmt::format("refused: {} at {}", test.refusal->code, test.refusal->location)
                   : "refused");
    for (const auto& [severity, code, location, message] : diagnostics) {
        fmt::print("    {} at {}: {}\n", code, location, message.substr(0, 300));
    }
}

} // namespace

int main(int count, char** arguments) {
    auto words = std::vector<std::string>(arguments + 1, arguments + count);
    if (words.size() < 2) {
        fmt::print(stderr, "usage: sluice_asl_validation_suite EXCEPTIONS FOLDER [NAME…]\n");
        return 2;
    }
    auto folder = fs::path{words[1]};
    if (!fs::is_directory(folder / "asl-validation") || !fs::is_directory(folder / "asl/public")) {
        fmt::print("left out: there are no asl-validation/ and asl/public/ in {}\n",
                   folder.string());
        return 0;
    }
    auto exceptions = read_exceptions(words[0]);
    auto only = std::set<std::string>(words.begin() + 2, words.end());
    auto tally = Tally{};
    for (const auto& test : read_cases(folder)) {
        if (only.empty() || only.contains(test.name)) {
            run(test, exceptions, !only.empty(), tally);
        }
    }
    fmt::print("States Language definitions: {} of {} cases pass; {} are listed as exceptions\n",
               tally.passed, tally.passed + tally.failed, exceptions.size());
    return tally.surprises == 0 ? 0 : 1;
}

/// Runs the CEL conformance suite and compares what does not pass with a list of exceptions.
///
/// usage: sluice_cel_suite EXCEPTIONS FOLDER      FOLDER has the suite's *.json
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "expr/cel/typed.h"
#include "value/json.h"

namespace {

using sluice::Value;
using sluice::value::to_json;

std::string read_file(const std::filesystem::path& path) {
    auto file = std::ifstream{path};
    return {std::istreambuf_iterator<char>{file}, {}};
}

/// Lines of `id  reason`; the id ends at the first two spaces.
std::map<std::string, std::string> read_exceptions(const std::filesystem::path& path) {
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

std::vector<std::filesystem::path> suite_files(const std::filesystem::path& folder) {
    auto files = std::vector<std::filesystem::path>{};
    if (!std::filesystem::is_directory(folder)) {
        return files;
    }
    for (const auto& entry : std::filesystem::directory_iterator{folder}) {
        if (entry.path().extension() == ".json") {
            files.push_back(entry.path());
        }
    }
    std::ranges::sort(files);
    return files;
}

/// Equal in kind and content; maps without order, any NaN like any other.
bool is_same(const Value& found, const Value& expected);

bool has_entry(const Value& map, const Value& wanted) {
    return std::ranges::any_of(map.as_list(), [&](const Value& entry) {
        return is_same(entry.as_list()[0], wanted.as_list()[0]) &&
               is_same(entry.as_list()[1], wanted.as_list()[1]);
    });
}

bool is_same(const Value& found, const Value& expected) {
    const auto& [kind, wanted] = expected.as_map()[0];
    const auto* held = found.is_map() ? found.find(kind) : nullptr;
    if (held == nullptr) {
        return false;
    }
    if (kind == "list") {
        return std::ranges::equal(held->as_list(), wanted.as_list(), is_same);
    }
    if (kind == "map") {
        return held->size() == wanted.size() &&
               std::ranges::all_of(wanted.as_list(),
                                   [&](const Value& entry) { return has_entry(*held, entry); });
    }
    if (kind == "double") {
        auto left = std::strtod(std::string{held->as_string()}.c_str(), nullptr);
        auto right = std::strtod(std::string{wanted.as_string()}.c_str(), nullptr);
        return left == right || (std::isnan(left) && std::isnan(right));
    }
    return *held == wanted;
}

Value typed_bindings(const Value& one) {
    auto members = std::vector<sluice::value::Member>{};
    if (const auto* bindings = one.find("bindings")) {
        for (const auto& [name, binding] : bindings->as_map()) {
            members.push_back({name, *binding.find("value")});
        }
    }
    return Value::map(std::move(members));
}

/// Why the case does not pass; empty when it does.
std::string run_case(const Value& one) {
    if (one.find("check_only") != nullptr) {
        return "asks for a type that only a type checker deduces";
    }
    const auto* container = one.find("container");
    auto outcome = sluice::expr::cel::evaluate_case(
        {.text = one.find("expr")->as_string(),
         .typed_bindings = typed_bindings(one),
         .container = container == nullptr ? "" : container->as_string()},
        {}, true);
    const auto* fault = std::get_if<sluice::expr::Fault>(&outcome);
    if (one.find("eval_error") != nullptr) {
        return fault != nullptr ? ""
                                : "expected an error, got " + to_json(std::get<Value>(outcome));
    }
    if (fault != nullptr) {
        return fmt::format("{}: {} (at byte {})", fault->code, fault->message, fault->position);
    }
    const auto& value = std::get<Value>(outcome);
    const auto& expected = *one.find("value");
    return is_same(value, expected)
               ? ""
               : fmt::format("expected {}, got {}", to_json(expected), to_json(value));
}

struct Tally {
    std::size_t cases = 0;
    std::size_t passed = 0;
    std::size_t surprises = 0;
};

void judge(const Value& one, const std::map<std::string, std::string>& exceptions, Tally& tally) {
    auto id = std::string{one.find("id")->as_string()};
    auto problem = run_case(one);
    ++tally.cases;
    tally.passed += problem.empty() ? 1 : 0;
    if (problem.empty() == exceptions.contains(id)) {
        ++tally.surprises;
        fmt::print("{}: {}\n    {}\n", id,
                   problem.empty() ? "passes: take it off the list" : problem,
                   one.find("expr")->as_string());
    }
}

} // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        fmt::print("usage: sluice_cel_suite EXCEPTIONS FOLDER\n");
        return 2;
    }
    auto exceptions = read_exceptions(arguments[1]);
    auto files = suite_files(arguments[2]);
    if (files.empty()) {
        fmt::print("left out: there is no CEL suite in {}\n", arguments[2]);
        return 0;
    }
    auto tally = Tally{};
    for (const auto& path : files) {
        auto suite = sluice::value::parse_json(read_file(path), {.depth_max = 512});
        if (!suite) {
            fmt::print("{}: {}\n", path.string(), suite.error().message);
            return 2;
        }
        for (const auto& one : suite->find("cases")->as_list()) {
            judge(one, exceptions, tally);
        }
    }
    fmt::print("CEL: {} of {} cases pass, {} are not as listed\n", tally.passed, tally.cases,
               tally.surprises);
    return tally.surprises == 0 ? 0 : 1;
}

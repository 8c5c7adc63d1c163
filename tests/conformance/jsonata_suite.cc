// Runs the official JSONata suite against expr/jsonata.
//
// usage: sluice_jsonata_suite EXCEPTIONS FOLDER [NAME…]
//
// FOLDER has groups/ and datasets/. EXCEPTIONS lists the cases that do not pass: name, two spaces,
// the reason. Fails when an unlisted case fails and when a listed one passes. With names, only
// those cases, and what they gave.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "expr/jsonata/expression.h"
#include "expr/map_bindings.h"
#include "value/json.h"

namespace {

namespace fs = std::filesystem;
namespace jsonata = sluice::expr::jsonata;
using sluice::Value;

std::string read_text(const fs::path& path) {
    auto file = std::ifstream{path, std::ios::binary};
    auto text = std::stringstream{};
    text << file.rdbuf();
    return text.str();
}

/// The UTF-16 unit of an escape \uXXXX at a place; 0 when there is none.
unsigned unit_at(const std::string& text, std::size_t at) {
    return text.compare(at, 2, "\\u") == 0
               ? static_cast<unsigned>(std::stoul(text.substr(at + 2, 4), nullptr, 16))
               : 0;
}

/// Single surrogates are no JSON for us: in an expression, its own escape says the same.
std::string keep_surrogates(const std::string& text) {
    auto out = std::string{};
    for (auto at = std::size_t{0}; at < text.size();) {
        auto unit = unit_at(text, at);
        auto is_pair = unit >= 0xD800 && unit < 0xDC00 && unit_at(text, at + 6) >= 0xDC00;
        auto is_alone = !is_pair && unit >= 0xD800 && unit < 0xE000;
        auto size = is_pair ? 12UL : text[at] == '\\' ? 2UL : 1UL;
        out += is_alone ? "\\" : "";
        out += text.substr(at, size);
        at += size;
    }
    return out;
}

Value read_json(const fs::path& path) {
    auto value = sluice::value::parse_json(keep_surrogates(read_text(path)));
    if (!value) {
        fmt::print(stderr, "{}: {}\n", path.string(), value.error().message);
        std::exit(2);
    }
    return *value;
}

bool is_close(const Value& left, const Value& right) {
    auto number = [](const Value& value) {
        return value.is_int()    ? static_cast<double>(value.as_int())
               : value.is_uint() ? static_cast<double>(value.as_uint())
                                 : value.as_double();
    };
    auto one = number(left);
    auto other = number(right);
    return one == other ||
           std::abs(one - other) <= 1e-14 * std::max(std::abs(one), std::abs(other));
}

/// As JSON: numbers by their value.
bool is_same(const Value& left, const Value& right) {
    if (left.is_number() && right.is_number()) {
        return is_close(left, right);
    }
    if (left.is_list() && right.is_list()) {
        return std::ranges::equal(left.as_list(), right.as_list(), is_same);
    }
    if (left.is_map() && right.is_map()) {
        return left.size() == right.size() &&
               std::ranges::all_of(left.as_map(), [&](const auto& member) {
                   const auto* other = right.find(member.key);
                   return other != nullptr && is_same(member.value, *other);
               });
    }
    return left == right;
}

bool is_same_in_any_order(const Value& left, const Value& right) {
    auto ours = std::vector<Value>(left.as_list().begin(), left.as_list().end());
    return std::ranges::is_permutation(ours, right.as_list(), is_same);
}

std::string wording(const jsonata::Answer& answer) {
    if (const auto* value = std::get_if<Value>(&answer)) {
        return sluice::value::to_json(*value);
    }
    const auto* fault = std::get_if<sluice::expr::Fault>(&answer);
    return fault == nullptr ? "undefined" : fmt::format("{} ({})", fault->code, fault->message);
}

std::optional<Value> input_of(const Value& test, const fs::path& folder) {
    if (const auto* data = test.find("data")) {
        return *data;
    }
    const auto* dataset = test.find("dataset");
    if (dataset == nullptr || dataset->is_null()) {
        return std::nullopt;
    }
    return read_json(folder / "datasets" / (std::string{dataset->as_string()} + ".json"));
}

jsonata::Answer answer_of(const Value& test, const fs::path& folder) {
    auto expression = jsonata::Expression::compile(test.find("expr")->as_string());
    if (!expression) {
        return expression.error();
    }
    auto budget = sluice::expr::Budget{
        .steps_max = 50'000'000, .output_bytes_max = 64UL << 20U, .memory_bytes_max = 1UL << 30U};
    // What stops endless recursion in this suite is a limit of its own.
    if (const auto* depth = test.find("depth"); depth != nullptr && depth->as_int() >= 100) {
        budget.call_depth_max = static_cast<std::size_t>(depth->as_int());
        budget.steps_max = 1'000'000;
    }
    const auto* bindings = test.find("bindings");
    auto names = sluice::expr::MapBindings{bindings != nullptr ? *bindings : Value::object({})};
    return expression->evaluate(input_of(test, folder), names, budget);
}

bool is_right(const Value& test, const jsonata::Answer& answer) {
    const auto* code = test.find("code");
    if (const auto* error = test.find("error"); error != nullptr && code == nullptr) {
        code = error->find("code");
    }
    if (code != nullptr) {
        const auto* fault = std::get_if<sluice::expr::Fault>(&answer);
        return fault != nullptr && fault->code == code->as_string();
    }
    if (test.find("undefinedResult") != nullptr) {
        return std::holds_alternative<jsonata::Undefined>(answer);
    }
    const auto* value = std::get_if<Value>(&answer);
    const auto* wanted = test.find("result");
    if (value == nullptr || wanted == nullptr) {
        return false;
    }
    const auto* unordered = test.find("unordered");
    auto is_unordered = unordered != nullptr && *unordered == Value{true} && value->is_list();
    return is_unordered ? is_same_in_any_order(*value, *wanted) : is_same(*value, *wanted);
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

void run(const Value& test, const fs::path& folder,
         const std::map<std::string, std::string>& exceptions, bool is_wordy, Tally& tally) {
    auto name = std::string{test.find("name")->as_string()};
    auto answer = answer_of(test, folder);
    auto is_passed = is_right(test, answer);
    (is_passed ? tally.passed : tally.failed) += 1;
    auto is_surprise = is_passed == exceptions.contains(name);
    tally.surprises += is_surprise ? 1 : 0;
    if (is_surprise || is_wordy) {
        fmt::print("{} {}: {}\n    gave {}\n", is_passed ? "passed" : "FAILED", name,
                   test.find("expr")->as_string(), wording(answer).substr(0, 300));
        if (const auto* wanted = test.find("result")) {
            fmt::print("    want {}\n", sluice::value::to_json(*wanted).substr(0, 300));
        } else if (const auto* code = test.find("code")) {
            fmt::print("    want {}\n", code->as_string());
        }
    }
}

} // namespace

int main(int count, char** arguments) {
    auto words = std::vector<std::string>(arguments + 1, arguments + count);
    if (words.size() < 2) {
        fmt::print(stderr, "usage: sluice_jsonata_suite EXCEPTIONS FOLDER [NAME…]\n");
        return 2;
    }
    auto folder = fs::path{words[1]};
    if (!fs::is_directory(folder / "groups")) {
        fmt::print("left out: there is no JSONata suite in {}\n", folder.string());
        return 0;
    }
    auto exceptions = read_exceptions(words[0]);
    auto only = std::set<std::string>(words.begin() + 2, words.end());
    auto tally = Tally{};
    auto groups = std::set<fs::path>{};
    for (const auto& entry : fs::directory_iterator{folder / "groups"}) {
        groups.insert(entry.path());
    }
    for (const auto& group : groups) {
        auto cases = read_json(group);
        for (const auto& test : cases.as_list()) {
            if (only.empty() || only.contains(std::string{test.find("name")->as_string()})) {
                run(test, folder, exceptions, !only.empty(), tally);
            }
        }
    }
    fmt::print("JSONata: {} of {} cases pass; {} are listed as exceptions\n", tally.passed,
               tally.passed + tally.failed, exceptions.size());
    return tally.surprises == 0 ? 0 : 1;
}
